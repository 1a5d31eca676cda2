import Foundation
import GodwitBase

/// How a member's value is stored, so that the value itself says what it is (Specs/documents.md, "Values").
package enum DocumentCell {
  private static let mark = UInt8(ascii: "\\")

  private static func isMarked(_ first: UInt8?) -> Bool {
    first == UInt8(ascii: "[") || first == UInt8(ascii: "{") || first == mark
  }

  // MARK: Storing

  /// Appends the next value of a text in its encoded form (Specs/encoding.md). Says whether it was null.
  package static func encode(_ scanner: inout JSONScanner, to writer: inout ByteWriter) throws -> Bool {
    switch try scanner.token() {
    case .null:
      writer.byte(ValueTag.null)
      return true
    case .bool(let value): writer.realValue(value ? 1 : 0)
    case .integer(let number): writer.integerValue(number)
    case .real(let number): writer.realValue(number)
    case .string:
      let (range, hasEscapes) = try scanner.rawString()
      if hasEscapes {
        try scanner.unescaped(range).withUnsafeBytes { encode(string: $0, to: &writer) }
      } else {
        encode(string: UnsafeRawBufferPointer(rebasing: scanner.bytes[range]), to: &writer)
      }
    case .array:
      var text = ByteWriter(capacity: 64)
      try scanner.canonicalizeArray(to: &text, depth: 1)
      text.bytes.withUnsafeBytes { writer.bytesValue(ValueTag.text, $0) }
    case .object:
      var text = ByteWriter(capacity: 64)
      try scanner.canonicalizeObject(to: &text, depth: 1)
      text.bytes.withUnsafeBytes { writer.bytesValue(ValueTag.text, $0) }
    }
    return false
  }

  private static func encode(string: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
    guard isMarked(string.first) else { return writer.bytesValue(ValueTag.text, string) }
    writer.byte(ValueTag.text)
    writer.varint(string.count + 1)
    writer.byte(mark)
    writer.raw(string)
  }

  /// The stored form of a value, to compare with.
  package static func value(of json: JSON) -> Value {
    switch json {
    case .null: .null
    case .bool(let value): .real(value ? 1 : 0)
    case .integer(let number): .integer(number)
    case .real(let number):
      if case .integer(let integer) = JSON.number(number) { .integer(integer) } else { .real(number) }
    case .string(let text): .text(isMarked(text.utf8.first) ? "\\" + text : text)
    case .array, .object: .text(json.text)
    }
  }

  // MARK: Reading

  /// What a stored value stands for; total, whoever wrote it.
  package static func json(of value: Value) -> JSON {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    // SQL may have stored a number that JSON has not.
    case .real(let number): bool(number) ?? (number.isFinite ? .real(number) : .string("\(number)"))
    case .text(let text):
      if text.utf8.first == mark {
        .string(String(text.unicodeScalars.dropFirst()))
      } else if isMarked(text.utf8.first), let json = try? JSON(text: text) {
        json
      } else {
        .string(text)
      }
    case .blob(let bytes): .string(Data(bytes).base64EncodedString())
    }
  }

  private static func bool(_ number: Double) -> JSON? {
    if number == 1 { return .bool(true) }
    return number == 0 && number.sign == .plus ? .bool(false) : nil
  }

  /// Appends a stored real number as JSON.
  package static func write(_ number: Double, to writer: inout ByteWriter) {
    (bool(number) ?? .real(number)).write(to: &writer)
  }

  /// Appends a stored text as JSON.
  package static func write(text: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
    guard isMarked(text.first) else { return JSONWriter.append(text, to: &writer) }
    if text.first == mark { return JSONWriter.append(UnsafeRawBufferPointer(rebasing: text.dropFirst()), to: &writer) }
    let start = writer.count
    var scanner = JSONScanner(text)
    do {
      try scanner.canonicalize(to: &writer, depth: 1)
      try scanner.expectEnd()
    } catch {
      writer.truncate(to: start)
      JSONWriter.append(text, to: &writer)
    }
  }
}
