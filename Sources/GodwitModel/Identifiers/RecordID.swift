import Foundation
import GodwitBase

/// A record's key: a UUID version 7 (RFC 9562), so keys made later sort later.
public struct RecordID<Record>: Hashable, Comparable, Sendable, CustomStringConvertible {
  let value: Identifier128

  /// A new key, greater than every one this process made before.
  public init() { value = RecordIDGenerator.next() }

  /// Reads the 36 characters that ``description`` writes; nil for anything else.
  public init?(_ text: String) {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
      let value = Identifier128(hexadecimal: groups.joined())
    else { return nil }
    self.value = value
  }

  init(_ value: Identifier128) { self.value = value }

  /// The usual form with hyphens, in lower case.
  public var description: String {
    let text = Array(value.hexadecimal)
    let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return cuts.map { String(text[$0]) }.joined(separator: "-")
  }

  /// By the 128 bits, and so by the millisecond of making.
  public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

extension RecordID: Codable {
  /// Reads the text of ``description``; throws `dataCorrupted` for any other.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = Self(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a record ID")
    }
    self = value
  }

  /// Writes the text of ``description``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// What is text in JSON and bytes in a column.
protocol StoredAsBytes {
  /// Nil for what are not its bytes.
  init?(bytes: [UInt8])
}

extension RecordID: StoredAsBytes {
  init?(bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard bytes.count == 16, let value = try? Identifier128(reading: &reader) else { return nil }
    self.value = value
  }
}

/// A record ID is its 128 bits whatever the record, so all of them share one type's access code.
extension RecordID: ModelKey {
  /// BLOB of 16 bytes.
  public static var storageType: StorageType { .blob }
  /// Binds the 16 bytes.
  public func bind(to binder: borrowing ColumnBinder) throws { try value.bind(to: binder) }
  /// Reads a BLOB of 16 bytes; throws `valueMismatch` for anything else.
  public static func read(from reader: borrowing ColumnReader) throws -> Self { Self(try .read(from: reader)) }
  /// The 16 bytes.
  public func storedValue() -> Value { value.storedValue() }
  /// That of 128 bits; never called by programs.
  public static func _access(atOffset offset: Int) -> ColumnAccess { Identifier128._access(atOffset: offset) }
  /// That of 128 bits that may be missing; never called by programs.
  public static func _optionalAccess(atOffset offset: Int) -> ColumnAccess {
    Identifier128._optionalAccess(atOffset: offset)
  }
}

extension Identifier128: ColumnValue {
  package static var storageType: StorageType { .blob }

  package func bind(to binder: borrowing ColumnBinder) throws {
    let big = (high.bigEndian, low.bigEndian)
    try withUnsafeBytes(of: big) { try binder.bind(blob: $0) }
  }

  package static func read(from reader: borrowing ColumnReader) throws -> Self {
    try reader.expect(.blob)
    return try reader.withBytes { bytes in
      guard bytes.count == 16 else { throw reader.mismatch("a record ID of 16 bytes") }
      return Self(
        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  package func storedValue() -> Value {
    var writer = ByteWriter(capacity: 16)
    write(to: &writer)
    return .blob(writer.bytes)
  }
}
