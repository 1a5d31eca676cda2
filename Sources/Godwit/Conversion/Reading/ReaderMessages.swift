import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitEngine
import GodwitStorage

/// What is to be opened.
struct ReaderOrder {
  let path: String
  /// That of a copy which was made for reading; nil for a database without encryption.
  let key: SecretBytes?
  let pageSize: Int
  let limits: ReaderLimits

  /// Those that the process itself keeps.
  private static var limits: [WritableKeyPath<ReaderLimits, Int>] {
    [\.steps, \.memoryByteCount, \.cpuSeconds, \.frameByteCount]
  }

  init(path: String, key: SecretBytes?, pageSize: Int, limits: ReaderLimits) {
    self.path = path
    self.key = key
    self.pageSize = pageSize
    self.limits = limits
  }

  init(_ payload: [UInt8]) throws {
    var reader = ByteReader(payload)
    path = try reader.string()
    let key = try reader.lengthPrefixed(limit: 32)
    self.key = key.isEmpty ? nil : SecretBytes(copying: key)
    pageSize = try reader.count(limit: 65_536)
    var limits = ReaderLimits(byteCount: 0)
    for limit in Self.limits { limits[keyPath: limit] = try reader.count() }
    self.limits = limits
    try reader.expectEnd()
  }

  var payload: [UInt8] {
    var writer = ByteWriter(capacity: 256)
    writer.string(path)
    if let key { key.withUnsafeBytes { writer.lengthPrefixed(Array($0)) } } else { writer.varint(0) }
    writer.varint(pageSize)
    for limit in Self.limits { writer.varint(limits[keyPath: limit]) }
    return writer.bytes
  }
}

/// A statement whose rows are wanted.
struct ReaderQuestion {
  let sql: String
  let authority: Authority

  init(sql: String, authority: Authority) {
    self.sql = sql
    self.authority = authority
  }

  init(_ payload: [UInt8]) throws {
    var reader = ByteReader(payload)
    authority = try reader.byte() == 0 ? .trusted : .user
    sql = try reader.string()
    try reader.expectEnd()
  }

  var payload: [UInt8] {
    var writer = ByteWriter(capacity: sql.utf8.count + 8)
    writer.byte(authority == .trusted ? 0 : 1)
    writer.string(sql)
    return writer.bytes
  }
}

/// An error that comes from the other process.
enum ReaderFailure {
  /// What reading can fail with. Nothing that speaks of the replica, of keys or of members is believed.
  private static let codes: [GodwitError.Code] = [
    .busy, .damagedDatabase, .fileAccess, .limitExceeded, .noCipher, .notADatabase, .notAuthorized, .sql,
    .valueMismatch, .wrongKey,
  ]
  private static let textLimit = 64 << 10

  static func payload(_ error: any Error) -> [UInt8] {
    let error = error as? GodwitError ?? GodwitError(.damagedDatabase, "\(error)")
    var writer = ByteWriter()
    for text in [error.code.rawValue, error.message, error.hint ?? ""] {
      writer.string(String(decoding: text.utf8.prefix(textLimit), as: UTF8.self))
    }
    return writer.bytes
  }

  static func error(_ payload: [UInt8]) throws -> GodwitError {
    var reader = ByteReader(payload)
    // A text that was cut in the middle of a character got a longer one there.
    let code = try reader.string(limit: 64)
    let message = try reader.string(limit: 3 * textLimit)
    let hint = try reader.string(limit: 3 * textLimit)
    try reader.expectEnd()
    let known = codes.first { $0.rawValue == code } ?? .damagedDatabase
    return GodwitError(known, message, hint: hint.isEmpty ? nil : hint)
  }
}

/// Rows that come from the other process, one after the other: each its length, then its values.
struct ReaderRows {
  /// No table has more columns (sqlite.org/limits.html), and no connection of ours lets more be chosen.
  private static let columnLimit = 2_000
  private var reader: ByteReader

  init(_ payload: [UInt8]) { reader = ByteReader(payload) }

  /// The next row, whose values are whole and as many as are wanted; nil at the end.
  ///
  /// Throws `corruptFile`, `truncatedFile`.
  mutating func next(columnCount: Int) throws -> ArraySlice<UInt8>? {
    guard !reader.isAtEnd else { return nil }
    let row = try reader.lengthPrefixed()
    var values = ByteReader(row)
    var count = 0
    while !values.isAtEnd {
      let value = try values.encodedValue()
      if value.first == ValueTag.real { try Self.requireNumber(value) }
      count += 1
    }
    guard count == columnCount else { throw ByteReader.malformed("\(count) values in a row of \(columnCount)") }
    return row
  }

  /// The next row's values; nil at the end.
  ///
  /// Throws the same, and `valueMismatch` for text that is not UTF-8.
  mutating func nextValues() throws -> [Value]? {
    guard !reader.isAtEnd else { return nil }
    var row = ByteReader(try reader.lengthPrefixed())
    var values: [Value] = []
    while !row.isAtEnd {
      guard values.count < Self.columnLimit else { throw ByteReader.malformed("a row has too many values") }
      var encoded = ByteReader(try row.encodedValue())
      if encoded.bytes.first == ValueTag.text {
        _ = try encoded.byte()
        guard let text = String(validating: try encoded.lengthPrefixed(), as: UTF8.self) else {
          throw GodwitError(.valueMismatch, "the database's schema holds text that is not UTF-8")
        }
        values.append(.text(text))
      } else {
        values.append(try encoded.value())
      }
    }
    guard !values.isEmpty else { throw ByteReader.malformed("a row has no values") }
    return values
  }

  private static func requireNumber(_ value: ArraySlice<UInt8>) throws {
    var reader = ByteReader(value)
    _ = try reader.value()
  }
}
