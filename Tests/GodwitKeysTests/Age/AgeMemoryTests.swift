import GodwitBase
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

@Suite("Memory")
struct AgeMemoryTests {
  @Test("one large write reaches the sink in pieces of a chunk, and one large read the source in such pieces")
  func pieces() throws {
    final class Pieces: ByteSink, ByteSource {
      var bytes: [UInt8] = []
      var position = 0
      var byteCountMax = 0

      func write(_ buffer: UnsafeRawBufferPointer) throws {
        byteCountMax = max(byteCountMax, buffer.count)
        bytes += buffer
      }

      func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        byteCountMax = max(byteCountMax, buffer.count)
        let part = bytes[position...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        position = part.endIndex
        return part.count
      }
    }
    let identity = try newAgeIdentity()
    let pieces = Pieces()
    let sealer = try AgeSealer(recipients: [identity.recipient], to: pieces)
    try sealer.write([UInt8](repeating: 7, count: 1_000_000))
    try sealer.finish()
    #expect(pieces.byteCountMax == 65_552)
    pieces.byteCountMax = 0
    let opener = try AgeOpener(pieces, identities: [identity])
    #expect(try opener.readExactly(1_000_000) == [UInt8](repeating: 7, count: 1_000_000))
    #expect(pieces.byteCountMax <= 65_553)
  }
}
