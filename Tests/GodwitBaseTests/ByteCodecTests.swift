import GodwitBase
import Testing

@Suite("Byte codec")
struct ByteCodecTests {
  @Test("every varint reads back as written", arguments: [0, 1, 127, 128, 16_383, 16_384, UInt64.max - 1, .max])
  func varint(value: UInt64) throws {
    var writer = ByteWriter()
    writer.varint(value)
    var reader = ByteReader(writer.bytes)
    #expect(try reader.varint() == value)
    #expect(reader.isAtEnd)
  }

  @Test("every signed varint reads back as written", arguments: [0, -1, 1, Int64.min, .max, -64, 64])
  func signedVarint(value: Int64) throws {
    var writer = ByteWriter()
    writer.signedVarint(value)
    var reader = ByteReader(writer.bytes)
    #expect(try reader.signedVarint() == value)
  }

  @Test(
    "a number too long, cut or padded is refused",
    arguments: [
      [0x80], [0x80, 0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
    ] as [[UInt8]])
  func refusedVarint(bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    #expect(throws: GodwitError.self) { try reader.varint() }
  }

  @Test("a length beyond the end is refused before anything is allocated")
  func lengthBeyondEnd() {
    var writer = ByteWriter()
    writer.varint(UInt64(1) << 40)
    var reader = ByteReader(writer.bytes)
    #expect { try reader.lengthPrefixed() } throws: { ($0 as? GodwitError)?.code == .truncatedFile }
  }

  @Test("hexadecimal refuses odd lengths and other characters")
  func hexadecimal() {
    #expect(Hexadecimal.decode("00ff") == [0, 255])
    #expect(Hexadecimal.decode("0") == nil)
    #expect(Hexadecimal.decode("0g") == nil)
    #expect(Hexadecimal.encode([0, 171]) == "00ab")
  }
}
