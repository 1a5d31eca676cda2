/// 128 bits that name something, compared and shown as 32 hexadecimal digits.
package struct Identifier128: Hashable, Comparable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package static func random(using generator: inout some RandomNumberGenerator) -> Self {
    Self(high: generator.next(), low: generator.next())
  }

  package init(reading reader: inout ByteReader) throws {
    high = try reader.bigEndian()
    low = try reader.bigEndian()
  }

  package func write(to writer: inout ByteWriter) {
    writer.bigEndian(high)
    writer.bigEndian(low)
  }

  package init?(hexadecimal text: some StringProtocol) {
    guard let bytes = Hexadecimal.decode(text), bytes.count == 16 else { return nil }
    func number(_ slice: ArraySlice<UInt8>) -> UInt64 { slice.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
  }

  package var hexadecimal: String {
    var writer = ByteWriter(capacity: 16)
    write(to: &writer)
    return Hexadecimal.encode(writer.bytes)
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}
