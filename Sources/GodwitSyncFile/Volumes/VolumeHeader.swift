import GodwitBase
import GodwitCrypto
import GodwitKeys

/// What a volume says of itself before its body, a piece of a sealed file (Specs/sync-file.md, "Volumes").
package struct VolumeHeader: Equatable, Sendable {
  /// The set it belongs to: 16 random bytes.
  package let set: Identifier128
  /// Its place in the set, from 1.
  package let number: Int
  /// How many volumes the set has.
  package let count: Int
  /// Where its body begins in the sealed file.
  package let offset: UInt64
  package let bodyByteCount: UInt64
  /// The size of the sealed file.
  package let sealedByteCount: UInt64
  package let bodyHash: ContentHash

  package init(
    set: Identifier128, number: Int, count: Int, offset: UInt64, bodyByteCount: UInt64, sealedByteCount: UInt64,
    bodyHash: ContentHash
  ) {
    self.set = set
    self.number = number
    self.count = count
    self.offset = offset
    self.bodyByteCount = bodyByteCount
    self.sealedByteCount = sealedByteCount
    self.bodyHash = bodyHash
  }

  package static let magic = Array("GODWITVL".utf8)
  private static let version: UInt8 = 1
  /// With the hash of itself at its end.
  package static let byteCount = 121
  package static let countLimit = 999
}

extension VolumeHeader {
  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: Self.byteCount)
    writer.raw(Self.magic)
    writer.byte(Self.version)
    set.write(to: &writer)
    writer.bigEndian(UInt32(number))
    writer.bigEndian(UInt32(count))
    for size in [offset, bodyByteCount, sealedByteCount] { writer.bigEndian(size) }
    writer.raw(bodyHash.bytes)
    return writer.bytes + Self.hash(writer.bytes).bytes
  }

  /// Throws `truncatedFile`, `unsupportedVersion`, or `corruptFile` for what is no volume's header or was changed.
  package init(_ bytes: [UInt8]) throws {
    guard bytes.starts(with: Self.magic) else {
      throw Self.magic.starts(with: bytes) ? ByteReader.truncated() : GodwitError(.corruptFile, "this is no volume")
    }
    var reader = ByteReader(bytes[Self.magic.count...])
    let version = try reader.byte()
    guard version == Self.version else {
      throw GodwitError(
        .unsupportedVersion, "the volume has version \(version); this program reads version 1",
        hint: "update this program")
    }
    set = try Identifier128(reading: &reader)
    number = Int(try reader.bigEndian(UInt32.self))
    count = Int(try reader.bigEndian(UInt32.self))
    offset = try reader.bigEndian()
    bodyByteCount = try reader.bigEndian()
    sealedByteCount = try reader.bigEndian()
    bodyHash = try ContentHash(reading: &reader)
    let end = reader.position
    guard try ContentHash(reading: &reader) == Self.hash(bytes[..<end]) else {
      throw ByteReader.malformed("the volume's header was changed")
    }
    try reader.expectEnd()
    try check()
  }

  private func check() throws {
    guard (1...Self.countLimit).contains(count), (1...count).contains(number) else {
      throw ByteReader.malformed("the volume's number")
    }
    let (end, isOverflowing) = offset.addingReportingOverflow(bodyByteCount)
    guard bodyByteCount > 0, !isOverflowing, end <= sealedByteCount, sealedByteCount <= UInt64(Int64.max),
      (number == 1) == (offset == 0), (number == count) == (end == sealedByteCount)
    else { throw ByteReader.malformed("the volume's sizes") }
  }

  private static func hash(_ bytes: some Collection<UInt8>) -> ContentHash {
    Array(bytes).withUnsafeBytes { ContentHash(of: $0) }
  }
}
