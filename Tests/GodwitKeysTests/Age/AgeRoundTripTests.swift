import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Sealing and opening")
struct AgeRoundTripTests {
  @Test(
    "what was sealed is opened, however it is cut into writes and reads",
    arguments: [0, 1, 65_535, 65_536, 65_537, 3 * 65_536, 3 * 65_536 + 1], [7_001, 65_536, 200_000])
  func roundTrip(count: Int, pieceSize: Int) throws {
    let identity = try newAgeIdentity()
    let plain = randomBytes(count)
    let sealed = try seal(plain, to: [identity.recipient], writing: pieceSize)
    let opened = open(sealed, with: [identity], reading: pieceSize)
    #expect(opened.error == nil)
    #expect(opened.plain == plain)
    let chunkCount = max(1, (count + 65_535) / 65_536)
    let headerByteCount = try headerSize(sealed)
    #expect(sealed.count == headerByteCount + 16 + count + 16 * chunkCount)
  }

  @Test("a source that gives a byte at a time is opened just so")
  func drip() throws {
    final class Drip: ByteSource {
      let source: MemorySource
      init(_ bytes: [UInt8]) { source = MemorySource(bytes) }
      func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1)))
      }
    }
    let identity = try newAgeIdentity()
    let plain = randomBytes(66_000)
    let opener = try AgeOpener(Drip(try seal(plain, to: [identity.recipient])), identities: [identity])
    #expect(try opener.readExactly(plain.count) == plain)
    var byte: UInt8 = 0
    #expect(try withUnsafeMutableBytes(of: &byte) { try opener.read(into: $0) } == 0)
  }

  @Test("each of several recipients opens the file, and others do not")
  func severalRecipients() throws {
    let identities = try (0..<5).map { _ in try newAgeIdentity() }
    let plain = randomBytes(1_000)
    let sealed = try seal(plain, to: identities.map(\.recipient))
    for identity in identities { #expect(open(sealed, with: [identity]).plain == plain) }
    let stranger = try newAgeIdentity()
    #expect(open(sealed, with: [stranger]).error?.code == .notARecipient)
    #expect(open(sealed, with: []).error?.code == .notARecipient)
    #expect(open(sealed, with: [stranger, identities[4]]).plain == plain)
    #expect(try AgeOpener(MemorySource(sealed), identities: [identities[0]]).stanzaCount == 5)
  }

  @Test("ten thousand seals share no file key, ephemeral share or payload nonce")
  func distinct() throws {
    let identity = try newAgeIdentity()
    let key = try identity.agreementKey()
    var fileKeys: Set<[UInt8]> = []
    var shares: Set<String> = []
    var nonces: Set<[UInt8]> = []
    for _ in 0..<10_000 {
      let sealed = try seal([], to: [identity.recipient])
      let source = LineSource(MemorySource(sealed))
      let header = try AgeHeader(reading: source)
      let fileKey = try #require(try X25519Stanza(header.stanzas[0]).unwrap(with: key, of: identity.recipient))
      fileKeys.insert(fileKey.secret.withUnsafeBytes(Array.init))
      shares.insert(header.stanzas[0].arguments[0])
      nonces.insert(try source.readExactly(16))
    }
    #expect(fileKeys.count == 10_000)
    #expect(shares.count == 10_000)
    #expect(nonces.count == 10_000)
  }

  @Test("no recipients, or more than a header holds, are refused")
  func recipientCount() throws {
    let recipient = try newAgeIdentity().recipient
    let none = code { _ = try AgeSealer(recipients: [], to: MemorySink()) }
    #expect(none == .invalidArgument)
    let many = [AgeRecipient](repeating: recipient, count: 1_025)
    #expect(code { _ = try AgeSealer(recipients: many, to: MemorySink()) } == .limitExceeded)
  }

  @Test("a finished file takes no more")
  func finished() throws {
    let sealer = try AgeSealer(recipients: [newAgeIdentity().recipient], to: MemorySink())
    try sealer.finish()
    #expect(code { try sealer.write([1]) } == .invalidArgument)
    #expect(code { try sealer.finish() } == .invalidArgument)
  }

  @Test("after a failed write nothing more is sealed, so no chunk number is used twice")
  func failedWrite() throws {
    final class FullDisk: ByteSink {
      var byteCountLeft = 1_000
      func write(_ buffer: UnsafeRawBufferPointer) throws {
        guard buffer.count <= byteCountLeft else { throw GodwitError(.diskFull, "no space left") }
        byteCountLeft -= buffer.count
      }
    }
    let sealer = try AgeSealer(recipients: [newAgeIdentity().recipient], to: FullDisk())
    #expect(code { try sealer.write(randomBytes(70_000)) } == .diskFull)
    #expect(code { try sealer.write([1]) } == .invalidArgument)
    #expect(code { try sealer.finish() } == .invalidArgument)
  }

  private func headerSize(_ sealed: [UInt8]) throws -> Int {
    try AgeHeader(reading: LineSource(MemorySource(sealed))).encoded.count
  }
}
