import GodwitBase

extension JSON {
  /// Appends the value in its one form. A number that JSON has not, infinite or NaN, is written as a string.
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .null: writer.raw("null".utf8)
    case .bool(let value): writer.raw((value ? "true" : "false").utf8)
    case .integer(let number): writer.raw("\(number)".utf8)
    case .real(let number) where !number.isFinite: JSONWriter.append("\(number)", to: &writer)
    case .real(let number): JSONWriter.append(number, to: &writer)
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
}
