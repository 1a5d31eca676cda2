import GodwitBase
import TestAge

@testable import GodwitCrypto
@testable import GodwitKeys

extension FuzzTarget {
  static let ageTargets = [ageHeader, ageFile, agePayload, ageArmor]

  /// The header as it is read before any key is at hand. It has one form.
  static let ageHeader = FuzzTarget(name: "age-header") { bytes in
    let source = LineSource(MemorySource(bytes))
    let header = try AgeHeader(reading: source)
    let payload = try drain(source)
    try require(header.encoded + payload == bytes, "a header that is written again differs")
    try require(header.encoded.count <= AgeHeader.byteCountMax + 64, "a header beyond its limit")
  } starts: {
    let hybrid = try sealed(Array("hybrid".utf8), to: [FuzzKeys.identity(1, .hybrid)])
    let payload = Array("text".utf8)
    var header: [UInt8] = []
    AgeStanza(type: "X25519", arguments: ["a", "b+/"], body: [UInt8](repeating: 5, count: 48)).encode(to: &header)
    return [
      "x25519": try sealed(payload, to: [FuzzKeys.identity(1), FuzzKeys.identity(2)]), "hybrid": hybrid,
      "passphrase": try passphraseFile(payload),
      "grease": Array("age-encryption.org/v1\n".utf8) + header + Array("--- AAAA\n".utf8),
      "version": Array("age-encryption.org/v2\n".utf8),
    ]
  }

  /// A whole file, armored or not, with an identity of each kind and a passphrase: its stanzas, too.
  static let ageFile = FuzzTarget(name: "age-file") { bytes in
    let identities = try [FuzzKeys.identity(1), FuzzKeys.identity(1, .hybrid)].map(\.ageIdentity)
    let opener = try AgeOpener(
      MemorySource(bytes), identities: identities, passphrases: [FuzzKeys.passphrase], costMax: FuzzKeys.costMax,
      allowsArmor: true)
    let plain = try drain(opener)
    try require(plain.count < bytes.count, "more plaintext than there was ciphertext")
  } starts: {
    let plain = Array("plaintext".utf8)
    let classical = try sealed(plain, to: [FuzzKeys.identity(1), FuzzKeys.identity(2)])
    return [
      "x25519": classical, "armored": try armored(classical),
      "hybrid": try sealed(plain, to: [FuzzKeys.identity(1, .hybrid)]), "passphrase": try passphraseFile(plain),
    ]
  }

  /// What follows a header that opens: chunks that are changed, cut, repeated or exchanged as the input says. Reading
  /// from the front and from any place must agree.
  static let agePayload = FuzzTarget(name: "age-payload") { bytes in
    var choices = FuzzChoices(bytes)
    let isSealed = choices.byte() & 1 == 0
    let payload = isSealed ? try SealedChunks(&choices) : SealedChunks(raw: Array(choices.rest))
    let file = try AgePayloadFile.header + AgePayloadFile.nonce + payload.bytes
    let identity = try FuzzKeys.identity(1).ageIdentity
    let streamed = try unlessRefused { try drain(AgeOpener(MemorySource(file), identities: [identity])) }
    try require(streamed == payload.expected, "changed chunks are read, or whole ones are not")
  } starts: {
    [
      "empty": [0, 0, 0, 0], "one": [0, 0, 5, 0, 1, 2, 3], "chunk": [0, 1, 0, 0, 9], "two": [0, 1, 1, 0, 7],
      "three": [0, 2, 200, 0, 8], "cut": [0, 1, 9, 1, 0, 3], "flip": [0, 1, 9, 2, 1, 0, 4],
      "exchange": [0, 2, 9, 3, 0, 1],
      "repeat": [0, 1, 9, 4, 0], "raw": [1] + [UInt8](repeating: 3, count: 40),
    ]
  }

  /// Armor, whose content has one text but for the ends of lines and the space around.
  static let ageArmor = FuzzTarget(name: "age-armor") { bytes in
    let content = try drain(AgeArmorReader(MemorySource(bytes)))
    let text = try armored(content)
    try require(try drain(AgeArmorReader(MemorySource(text))) == content, "armor that is written again differs")
    let stripped = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").trimmed
    try require(stripped == String(decoding: text, as: UTF8.self).trimmed, "two texts for one content")
  } starts: {
    var starts: [String: [UInt8]] = ["space": [10, 13, 10] + (try armored([1])) + [32, 10]]
    for count in [0, 1, 2, 47, 48, 49, 100] { starts["\(count)"] = try armored([UInt8](repeating: 0xA5, count: count)) }
    starts["lines"] = Array(String(decoding: try armored([1, 2]), as: UTF8.self).replacing("\n", with: "\r\n").utf8)
    return starts
  }
}

func sealed(_ plain: [UInt8], to identities: [Identity]) throws -> [UInt8] {
  let sink = MemorySink()
  let sealer = try AgeSealer(recipients: identities.map(\.publicIdentity.recipient), to: sink)
  try sealer.write(plain)
  try sealer.finish()
  return sink.bytes
}

private func passphraseFile(_ plain: [UInt8]) throws -> [UInt8] {
  let sink = MemorySink()
  let sealer = try AgeSealer(passphrase: FuzzKeys.passphrase, cost: FuzzKeys.costMax, to: sink)
  try sealer.write(plain)
  try sealer.finish()
  return sink.bytes
}

private func armored(_ bytes: [UInt8]) throws -> [UInt8] {
  let sink = MemorySink()
  let writer = AgeArmorWriter(to: sink)
  try writer.write(bytes)
  try writer.finish()
  return sink.bytes
}

extension String {
  fileprivate var trimmed: String {
    let isSpace: (Character) -> Bool = { $0.utf8.allSatisfy(AgeArmor.isSpace) }
    return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
  }
}

/// What stands before the chunks: always the same, so that only they count.
private enum AgePayloadFile {
  static let fileKey = AgeFileKey(secret: SecretBytes(copying: [UInt8](repeating: 11, count: AgeFileKey.byteCount)))
  static let nonce = [UInt8](repeating: 12, count: AgeSealer.payloadNonceByteCount)
  static let cipher = AgeChunkCipher(key: fileKey.payloadKey(nonce: nonce))

  private static let sealedHeader = Result {
    let stanza = try X25519Stanza.wrap(fileKey, to: FuzzKeys.identity(1).publicIdentity.recipient)
    return AgeHeader(stanzas: [stanza], fileKey: fileKey).encoded
  }
  static var header: [UInt8] { get throws { try sealedHeader.get() } }
}

/// Chunks that were sealed as they should be, and then treated as an input says.
private struct SealedChunks {
  let bytes: [UInt8]
  /// What they must be read as; nil when they must be refused.
  let expected: [UInt8]?

  /// No key of ours made these, so they are refused.
  init(raw: [UInt8]) {
    bytes = raw
    expected = nil
  }

  init(_ choices: inout FuzzChoices) throws {
    // Two bytes of size, of which the first counts chunks, so that sizes around their ends are easily hit.
    let size = Int(choices.byte() % 3) * AgeChunkCipher.plainByteCountMax + Int(choices.byte())
    let treatment = choices.byte() % 6
    var change = [choices.byte(), choices.byte(), choices.byte()].map(Int.init)
    let pattern = Array(choices.rest) + [1]
    let plain = (0..<size).map { pattern[$0 % pattern.count] }
    let starts = Array(stride(from: 0, to: max(1, size), by: AgeChunkCipher.plainByteCountMax))
    var chunks = try starts.enumerated().map { number, start in
      let end = min(start + AgeChunkCipher.plainByteCountMax, size)
      return try plain[start..<end].withUnsafeBytes { part in
        Array(try AgePayloadFile.cipher.seal(part, number: UInt64(number), isFinal: number == starts.count - 1))
      }
    }
    let whole = Array(chunks.joined())
    change[0] %= chunks.count
    change[1] %= chunks.count
    switch treatment {
    case 1: chunks[change[0]].removeLast(1 + change[2] % chunks[change[0]].count)
    case 2: chunks[change[0]][change[2] * 257 % chunks[change[0]].count] ^= UInt8(1 + change[1])
    case 3: chunks.swapAt(change[0], change[1])
    case 4: chunks.insert(chunks[change[0]], at: change[1])
    case 5: chunks.removeLast()
    default: break
    }
    bytes = Array(chunks.joined())
    expected = bytes == whole ? plain : nil
  }
}
