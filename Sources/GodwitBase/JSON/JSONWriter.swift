/// Writes JSON in its one form: no spaces, no escapes but those that must be.
package enum JSONWriter {
  private static let hexadecimal = Array("0123456789abcdef".utf8)

  /// Appends a string of UTF-8 bytes, in quotes.
  package static func append(_ string: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
    writer.byte(UInt8(ascii: "\""))
    var start = 0
    for (place, byte) in string.enumerated()
    where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
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

  /// Appends a finite number: a whole one of 64 bits without a fraction, any other in the fewest digits that name it.
  package static func append(_ number: Double, to writer: inout ByteWriter) {
    if let integer = wholeNumber(number) { writer.raw("\(integer)".utf8) } else { writer.raw("\(number)".utf8) }
  }

  /// The integer that a number is; nil for −0, too, which keeps its sign.
  package static func wholeNumber(_ number: Double) -> Int64? {
    number == 0 && number.sign == .minus ? nil : Int64(exactly: number)
  }
}
