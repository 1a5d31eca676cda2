import Crypto
import Foundation
import GodwitBase
import GodwitCrypto

/// The bytes of a keyring file (Specs/keyring.md): readable slots in front, a sealed body behind.
struct KeyringFile: Sendable {
  static let magic = Array("GODWITKR".utf8)
  private static let version: UInt16 = 1
  private static let bodyInfo = Array("godwit keyring v1 body".utf8)
  private static let nonceByteCount = 12
  private static let tagByteCount = 16

  /// Grows by one with each change, to notice a keyring rolled back.
  let generation: UInt64
  let slots: [KeyringSlot]
  /// Everything before the body's nonce; the body is bound to it.
  private let associatedData: [UInt8]
  /// Nonce, ciphertext, tag.
  private let sealedBody: [UInt8]

  var bytes: [UInt8] { associatedData + sealedBody }

  /// Reads a file without opening it. Throws `unsupportedVersion` for a newer one, else `damagedKeyring`.
  init(parsing bytes: [UInt8]) throws {
    do {
      var reader = ByteReader(bytes)
      guard try reader.raw(Self.magic.count).elementsEqual(Self.magic) else {
        throw ByteReader.malformed("this is not a keyring")
      }
      let version: UInt16 = try reader.bigEndian()
      guard version <= Self.version else { throw Self.newer(version) }
      guard version == Self.version else { throw ByteReader.malformed("there is no such version") }
      generation = try reader.bigEndian()
      var slots: [KeyringSlot] = []
      for _ in 0..<(try reader.byte()) {
        slots.append(KeyringSlot(type: try reader.byte(), body: Array(try reader.lengthPrefixed())))
      }
      self.slots = slots
      let bodyByteCount = try reader.count(limit: Keyring.byteCountMax, "the body's length")
      associatedData = Array(bytes[..<reader.position])
      sealedBody = Array(try reader.raw(bodyByteCount))
      try reader.expectEnd()
    } catch {
      throw Self.damaged(error)
    }
  }

  /// Seals the contents. Throws `limitExceeded` when the file would become larger than 64 MiB.
  init(sealing contents: KeyringContents, generation: UInt64, slots: [KeyringSlot], masterKey: SecretBytes) throws {
    guard slots.count <= Int(UInt8.max) else { throw GodwitError(.limitExceeded, "a keyring has 255 slots at most") }
    var plain = try contents.encoded()
    defer { plain.wipe() }
    try self.init(sealing: plain, generation: generation, slots: slots, masterKey: masterKey)
  }

  /// Seals the bytes of a body.
  init(sealing plain: [UInt8], generation: UInt64, slots: [KeyringSlot], masterKey: SecretBytes) throws {
    var writer = ByteWriter()
    writer.raw(Self.magic)
    writer.bigEndian(Self.version)
    writer.bigEndian(generation)
    writer.byte(UInt8(slots.count))
    for slot in slots {
      writer.byte(slot.type)
      writer.lengthPrefixed(slot.body)
    }
    writer.varint(Self.nonceByteCount + plain.count + Self.tagByteCount)
    let nonce = try SecretBytes(random: Self.nonceByteCount).withUnsafeBytes { try ChaChaPoly.Nonce(data: $0) }
    let box = try ChaChaPoly.seal(
      plain, using: Self.bodyKey(masterKey), nonce: nonce, authenticating: writer.bytes)
    self.generation = generation
    self.slots = slots
    associatedData = writer.bytes
    sealedBody = Array(box.combined)
    guard associatedData.count + sealedBody.count <= Keyring.byteCountMax else {
      throw GodwitError(.limitExceeded, "the keyring would become larger than \(Keyring.byteCountMax) bytes")
    }
  }

  /// Opens the body. Throws `damagedKeyring`, or `unsupportedVersion` for a newer body.
  ///
  /// - Parameter earlier: What stays of one that was opened before, and is to stay of this one.
  func contents(masterKey: SecretBytes, after earlier: OpenedKeyring? = nil) throws -> KeyringContents {
    do {
      let box = try ChaChaPoly.SealedBox(combined: sealedBody)
      var opened = try ChaChaPoly.open(box, using: Self.bodyKey(masterKey), authenticating: associatedData)
      var plain = Array(opened)
      opened.wipe()
      defer { plain.wipe() }
      var contents = try KeyringContents(decoding: plain, after: earlier)
      contents.generation = generation
      return contents
    } catch {
      throw Self.damaged(error)
    }
  }

  private static func bodyKey(_ masterKey: SecretBytes) -> SymmetricKey {
    masterKey.expanded(salt: [UInt8](), info: bodyInfo)
  }

  private static func newer(_ version: UInt16) -> GodwitError {
    GodwitError(
      .unsupportedVersion, "the keyring has version \(version); this program knows version \(Self.version)",
      hint: "update Godwit")
  }

  private static func damaged(_ error: any Error) -> GodwitError {
    if let error = error as? GodwitError, error.code == .unsupportedVersion { return error }
    return GodwitError(
      .damagedKeyring, "the keyring is damaged", hint: "restore it from a backup", underlying: error)
  }
}
