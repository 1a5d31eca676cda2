import Foundation

/// The bytes that SQLite's session extension writes for the same change: "The Changeset Format" in SQLite's
/// sqlite3session.c. ``SessionExtension`` prints what the extension itself makes of the same rows.
struct SessionChangeset {
  private(set) var bytes: [UInt8] = []

  private enum Operation: UInt8 {
    case insert = 18
    case update = 23
  }

  /// The header of a table whose first column is its key.
  init(table: String, columns: Int) {
    bytes.append(UInt8(ascii: "T"))
    varint(columns)
    for column in 0..<columns { bytes.append(column == 0 ? 1 : 0) }
    bytes += Array(table.utf8) + [0]
  }

  mutating func insert(_ row: BareDatabase.Row) {
    begin(.insert)
    blob(row.id)
    text(row.title)
    text(row.body)
    integer(row.views)
    real(row.created.timeIntervalSinceReferenceDate)
  }

  /// One column of five: the old key and value, then the new value.
  mutating func update(_ key: BareDatabase.Key, views old: Int, to new: Int) {
    begin(.update)
    blob(key)
    undefined(2)
    integer(old)
    undefined(1)
    undefined(3)
    integer(new)
    undefined(1)
  }

  private mutating func begin(_ operation: Operation) { bytes += [operation.rawValue, 0] }
  private mutating func undefined(_ count: Int) { bytes += Array(repeating: 0, count: count) }

  private mutating func integer(_ value: Int) {
    bytes.append(1)
    bytes += withUnsafeBytes(of: Int64(value).bigEndian, Array.init)
  }

  private mutating func real(_ value: Double) {
    bytes.append(2)
    bytes += withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init)
  }

  private mutating func text(_ value: String) {
    bytes.append(3)
    varint(value.utf8.count)
    bytes += Array(value.utf8)
  }

  private mutating func blob(_ key: BareDatabase.Key) {
    bytes.append(4)
    varint(16)
    bytes += withUnsafeBytes(of: key, Array.init)
  }

  /// SQLite's variable-length integer, for lengths that fit two bytes.
  private mutating func varint(_ value: Int) {
    if value > 0x7F { bytes.append(UInt8(truncatingIfNeeded: value >> 7) | 0x80) }
    bytes.append(UInt8(value & 0x7F))
  }
}
