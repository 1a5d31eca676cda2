import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitCore

/// What is kept of a database outside of it, to know a copy or an older state of it by (Specs/incarnations.md).
package struct Anchor: Equatable {
  /// The database's nonce now, and the one it had before: a kill may fall between writing the two files.
  var nonces: [Nonce]
  var incarnation: UInt32
  /// The greatest own sequence that was ever exported, and the chain there.
  var exported: SequenceNumber
  var chain: ContentHash
  /// The time of the latest statement, in milliseconds since 1970 UTC; 0 before the first.
  var statedAt: Int64 = 0
  /// What the tables held when they were looked at last.
  var state: AnchoredState?
  /// When the tables were found to hold something else than noted, in milliseconds since 1970 UTC; 0 for never.
  var alteredAt: Int64 = 0

  static let byteLimit = 256
  private static let magic = Array("GODWITAN".utf8)
  /// Whether a file that begins so is an anchor.
  package static func isAnchor(_ start: [UInt8]) -> Bool { start.starts(with: magic) }
  private static let version: UInt8 = 2

  /// The bytes of the file that lies at a place on a machine.
  func bytes(at place: FilePlace, on machine: ContentHash) -> [UInt8] {
    var writer = ByteWriter(capacity: Self.byteLimit)
    writer.raw(Self.magic)
    writer.byte(Self.version)
    writer.varint(nonces.count)
    for nonce in nonces { writer.raw(nonce.bytes) }
    writer.bigEndian(incarnation)
    writer.varint(exported.rawValue)
    writer.raw(chain.bytes)
    writer.raw(machine.bytes)
    writer.bigEndian(place.inode)
    writer.bigEndian(place.generation)
    writer.signedVarint(statedAt)
    writer.byte(state == nil ? 0 : 1)
    state?.write(to: &writer)
    writer.signedVarint(alteredAt)
    return writer.bytes + writer.bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes
  }

  /// Nil for bytes that are damaged, of an unknown version, or written for another place or machine.
  init?(_ bytes: [UInt8], at place: FilePlace, on machine: ContentHash) {
    guard let anchor = try? Self(reading: bytes, place, machine) else { return nil }
    self = anchor
  }

  init(nonces: [Nonce], incarnation: UInt32, exported: SequenceNumber = .none, chain: ContentHash = .zero) {
    self.nonces = nonces
    self.incarnation = incarnation
    self.exported = exported
    self.chain = chain
  }

  private init(reading bytes: [UInt8], _ place: FilePlace, _ machine: ContentHash) throws {
    let body = bytes.dropLast(ContentHash.byteCount)
    let hash = body.withUnsafeBytes { ContentHash(of: $0) }
    var reader = ByteReader(body)
    let start = try reader.raw(Self.magic.count) + [try reader.byte()]
    guard Array(start) == Self.magic + [Self.version], hash.bytes == Array(bytes.suffix(ContentHash.byteCount)) else {
      throw ByteReader.malformed("this is no anchor")
    }
    nonces = try (0..<(try reader.count(limit: 2))).map { _ in try Nonce(reading: &reader) }
    incarnation = try reader.bigEndian()
    exported = SequenceNumber(rawValue: try reader.varint())
    chain = try ContentHash(reading: &reader)
    let writtenOn = try ContentHash(reading: &reader)
    let writtenAt = FilePlace(inode: try reader.bigEndian(), generation: try reader.bigEndian())
    statedAt = try reader.signedVarint()
    state = try reader.flag() ? AnchoredState(reading: &reader) : nil
    alteredAt = try reader.signedVarint()
    try reader.expectEnd()
    let isHere = writtenOn == machine || writtenOn == .zero || machine == .zero
    guard isHere, writtenAt == place else { throw ByteReader.malformed("an anchor from elsewhere") }
  }
}

/// 16 random bytes that a database and its anchor share.
package struct Nonce: Equatable {
  package let bytes: [UInt8]
  /// Stands for a database that has none yet.
  static let none = Nonce(bytes: [UInt8](repeating: 0, count: byteCount))
  private static let byteCount = 16

  private init(bytes: [UInt8]) { self.bytes = bytes }

  init(reading reader: inout ByteReader) throws { bytes = Array(try reader.raw(Self.byteCount)) }

  /// What stands in the database.
  init(_ value: Value?) {
    if case .blob(let bytes)? = value, bytes.count == Self.byteCount { self.bytes = bytes } else { self = .none }
  }

  package static func random() -> Nonce {
    var generator = SystemRandomNumberGenerator()
    return Nonce(bytes: (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }
}
