import GodwitBase

@testable import Godwit
@testable import GodwitDocuments
@testable import GodwitEngine
@testable import GodwitModel

extension FuzzTarget {
  static let documentTargets = [json, documentQuery, documentDate]

  /// A document's JSON: every refusal says where, and what is read has one text.
  static let json = FuzzTarget(name: "json") { bytes in
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    let canonical = try canonicalText(bytes)
    let value: JSON
    do {
      value = try JSON(text: text)
    } catch let error as GodwitError {
      try requirePlace(error, in: bytes)
      try require(canonical == nil, "canonicalized, but not read")
      return
    }
    guard let canonical else { throw FuzzFault(description: "read, but not canonicalized") }
    try require(try canonicalText(canonical) == canonical, "a text has two forms")
    let written = value.text
    try require(try JSON(text: written) == value, "a value that is written and read differs")
    try require(try JSON(text: written).text == written, "a value has two texts")
    try require(
      DocumentCell.json(of: DocumentCell.value(of: value)) == value, "a value that is stored and read differs")
    try checkCell(bytes, value)
  } starts: {
    let texts = [
      "object": #"{"name":"Ada","tags":["new",1,2.5,null,true,false],"at":{"x":-0.0,"y":1e3}}"#,
      "escapes": #"["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00","\\[","{x"]"#,
      "numbers": "[0,-0,12,9223372036854775807,1e308,0.1,-5e-7]",
      "deep": String(repeating: "[", count: 20) + String(repeating: "]", count: 20),
      "lines": "{\n  \"a\": 1,\n  \"b\": [\n  ]\n}",
      "word": "null", "marked": #""[1]""#,
    ]
    return texts.mapValues { Array($0.utf8) }
  }

  /// Conditions and orders as text, and the SQL that is made of them.
  static let documentQuery = FuzzTarget(name: "document-query") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    func parse<Output>(_ work: () throws -> Output) throws -> Output? {
      do {
        return try work()
      } catch let error as GodwitError {
        try require(
          error.message.contains("at column ") && error.code == .invalidArgument, "\(error) does not say where")
        return nil
      }
    }
    _ = try parse { try DocumentConditionParser.orders(text) }
    guard let condition = try parse({ try DocumentConditionParser.condition(text) }) else { return }
    func compile() throws -> SQL {
      var sql = DocumentSQL(nil)
      try sql.add(condition.node)
      return try sql.sql()
    }
    guard let sql = try unlessRefused(compile) else { return }
    let marks = sql.text.utf8.count { $0 == UInt8(ascii: "?") }
    try require(marks >= sql.values.count, "values that nothing stands for")
  } starts: {
    let texts = [
      "condition": "price > 3 and tags contains 'new' or not (stock = 0 and key in ('a', \"b\", 2.5))",
      "order": "name, date desc, \"a b\" asc", "null": "a is null and b.c is not null or d <> true",
      "quotes": "'it''s' = x",
      "number": "a >= -1e9 and b != +5",
    ]
    return texts.mapValues { Array($0.utf8) }
  }

  /// Dates in documents.
  static let documentDate = FuzzTarget(name: "document-date") { bytes in
    guard let date = DocumentDate.date(String(decoding: bytes, as: UTF8.self)) else { return }
    guard let text = DocumentDate.text(date), let again = DocumentDate.date(text) else {
      throw FuzzFault(description: "a date that was written is none")
    }
    try require(DocumentDate.text(again) == text, "a date has two texts")
    // Offsets may lead out of the years that have four digits; those are written as the nearest that has.
    let isNear = abs(again.timeIntervalSince(date)) < 0.001
    try require(
      isNear || text.hasPrefix("0000-01-01") || text.hasPrefix("9999-12-31"), "a date that is written differs")
  } starts: {
    let texts = [
      "date": "2024-02-29", "time": "2026-11-22T01:02:03.456Z", "offset": "1969-12-31 23:59+05:30",
      "leap": "2016-12-31T23:59:60Z",
      "comma": "0000-01-01t00:00:00,5-23:59",
    ]
    return texts.mapValues { Array($0.utf8) }
  }

  /// The one form of a text; nil when it is refused.
  private static func canonicalText(_ bytes: [UInt8]) throws -> [UInt8]? {
    try unlessRefused {
      try bytes.withUnsafeBytes { buffer in
        var scanner = JSONScanner(buffer)
        var writer = ByteWriter()
        try scanner.canonicalize(to: &writer, depth: 0)
        try scanner.expectEnd()
        return writer.bytes
      }
    }
  }

  /// What a member's value is stored as says what it is, however it was written.
  private static func checkCell(_ bytes: [UInt8], _ value: JSON) throws {
    let encoded = try unlessRefused {
      try bytes.withUnsafeBytes { buffer in
        var scanner = JSONScanner(buffer)
        var writer = ByteWriter()
        _ = try DocumentCell.encode(&scanner, to: &writer)
        return writer.bytes
      }
    }
    guard let encoded else { return }  // nested one level deeper than a document may be
    var reader = ByteReader(encoded)
    let stored = try reader.value()
    try require(reader.isAtEnd, "more than one value is stored")
    guard case .text(let text) = stored, text.first == "{" || text.first == "[" else {
      return try require(stored == DocumentCell.value(of: value), "a value is stored in two ways")
    }
    // A dictionary takes names that Unicode holds for the same for one, the text does not.
    try require(DocumentCell.json(of: stored) == value, "a value that is stored and read differs")
  }

  private static func requirePlace(_ error: GodwitError, in bytes: [UInt8]) throws {
    guard let match = error.message.firstMatch(of: /at line ([0-9]+), column ([0-9]+)/), error.code == .invalidDocument,
      let line = Int(match.1), let column = Int(match.2)
    else { throw FuzzFault(description: "\(error) does not say where") }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    try require(lines.indices.contains(line - 1), "line \(line) of \(lines.count)")
    try require(column >= 1 && column <= lines[line - 1].count + 1, "column \(column) of line \(line)")
  }
}
