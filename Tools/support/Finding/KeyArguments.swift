import Foundation
import Godwit

/// Reads a row's key from the command line, by the storage classes of its table's key columns.
package struct KeyArguments {
  /// The key's values.
  package let key: [Value]
  /// What came behind them.
  package let rest: [String]

  /// The key is as many arguments as it has columns, or one that is a JSON array of that many values.
  package init(_ arguments: [String], of table: TableDescription) throws {
    if let first = arguments.first, first.hasPrefix("["), let values = Self.array(first, of: table) {
      key = values
      rest = Array(arguments.dropFirst())
      return
    }
    guard arguments.count >= table.key.count else {
      let names = table.key.map(\.name).joined(separator: ", ")
      throw GodwitError(
        .invalidArgument, "the key of table \(table.name) is made of \(names)",
        hint: "give a value for each, or one JSON array of them")
    }
    key = try zip(table.key, arguments).map(Self.value)
    rest = Array(arguments.dropFirst(table.key.count))
  }

  private static func array(_ text: String, of table: TableDescription) -> [Value]? {
    guard let elements = try? JSONDecoder().decode([Element].self, from: Data(text.utf8)),
      elements.count == table.key.count
    else { return nil }
    return elements.map(\.value)
  }

  private static func value(_ column: TableDescription.Column, _ text: String) throws -> Value {
    let value: Value? =
      switch column.storage {
      case .integer: Int64(text).map { .integer($0) }
      case .real: Double(text).flatMap { $0.isNaN ? nil : .real($0) }
      case .text: .text(text)
      case .blob: blob(text).map { .blob($0) }
      case .any: Int64(text).map { .integer($0) } ?? blob(quoted: text).map { .blob($0) } ?? .text(text)
      }
    guard let value else {
      throw GodwitError(
        .invalidArgument, "column \(column.name) holds \(column.storage.rawValue) values, which this is not",
        hint: column.storage == .blob ? "write bytes as hexadecimal digits, x'HEX', or a UUID" : nil)
    }
    return value
  }

  /// As `query` shows it, as digits, or as a record ID is usually written.
  private static func blob(_ text: String) -> [UInt8]? {
    if let bytes = blob(quoted: text) { return bytes }
    if let identifier = UUID(uuidString: text) { return withUnsafeBytes(of: identifier.uuid) { Array($0) } }
    return bytes(text)
  }

  private static func blob(quoted text: String) -> [UInt8]? {
    guard text.lowercased().hasPrefix("x'"), text.hasSuffix("'"), text.count >= 3 else { return nil }
    return bytes(String(text.dropFirst(2).dropLast()))
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
      guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// A JSON value in the form of Specs/cli.md.
  private struct Element: Decodable {
    let value: Value
    private struct Blob: Decodable {
      let digits: String
      enum CodingKeys: String, CodingKey { case digits = "$blob" }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        value = .null
      } else if let number = try? container.decode(Int64.self) {
        value = .integer(number)
      } else if let number = try? container.decode(Double.self) {
        value = .real(number)
      } else if let text = try? container.decode(String.self) {
        value = .text(text)
      } else if let bytes = KeyArguments.bytes(try container.decode(Blob.self).digits) {
        value = .blob(bytes)
      } else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a value")
      }
    }
  }
}
