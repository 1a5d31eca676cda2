import GodwitBase

/// Writes JSON in its one form: no spaces, no escapes but those that must be.
package enum JSONWriter {
  private static let hexadecimal = Array("0123456789abcdef".utf8)

  /// Appends a string of UTF-8 bytes, in quotes.
  package static func append(_ string: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
    writer.byte(UInt8(ascii: "\""))
    var start = 0
    for (place, byte) in string.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
      writer.raw(UnsafeRawBufferPointer(rebasing: string[start..<place]))
      start = place + 1
      writer.byte(UInt8(ascii: "\\"))
      switch byte {
      case 0x08: writer.byte(UInt8(ascii: "b"))
      case 0x09: writer.byte(UInt8(ascii: "t"))
      case 0x0A: writer.byte(UInt8(ascii: "n"))
      case 0x0C: writer.byte(UInt8(ascii: "f"))
      case 0x0D: writer.byte(UInt8(ascii: "r"))
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): writer.byte(byte)
      default:
        writer.raw("u00".utf8)
        writer.byte(hexadecimal[Int(byte >> 4)])
        writer.byte(hexadecimal[Int(byte & 15)])
      }
    }
    writer.raw(UnsafeRawBufferPointer(rebasing: string[start...]))
    writer.byte(UInt8(ascii: "\""))
  }

  package static func append(_ string: String, to writer: inout ByteWriter) {
    var string = string
    string.withUTF8 { append(UnsafeRawBufferPointer($0), to: &writer) }
  }
}

extension JSON {
  /// Appends the value in its one form. A number that JSON has not, infinite or NaN, is written as a string.
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .null: writer.raw("null".utf8)
    case .bool(let value): writer.raw((value ? "true" : "false").utf8)
    case .integer(let number): writer.raw("\(number)".utf8)
    case .real(let number) where !number.isFinite: JSONWriter.append("\(number)", to: &writer)
    case .real(let number): Self.number(number).write(number, to: &writer)
    case .string(let text): JSONWriter.append(text, to: &writer)
    case .array(let elements):
      writer.byte(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { writer.byte(UInt8(ascii: ",")) }
        element.write(to: &writer)
      }
      writer.byte(UInt8(ascii: "]"))
    case .object(let members):
      writer.byte(UInt8(ascii: "{"))
      let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, member) in sorted.enumerated() {
        if index > 0 { writer.byte(UInt8(ascii: ",")) }
        JSONWriter.append(member.key, to: &writer)
        writer.byte(UInt8(ascii: ":"))
        member.value.write(to: &writer)
      }
      writer.byte(UInt8(ascii: "}"))
    }
  }

  /// A number in the form that ``number(_:)`` has chosen.
  private func write(_ real: Double, to writer: inout ByteWriter) {
    if case .integer(let integer) = self { writer.raw("\(integer)".utf8) } else { writer.raw("\(real)".utf8) }
  }
}
