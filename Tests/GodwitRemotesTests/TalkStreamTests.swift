import Foundation
import GodwitBase
import Testing

@testable import GodwitRemotes

/// Specs/remotes.md, "Talks": what comes from the other side, byte by byte.
@Suite("A talk's bytes")
struct TalkStreamTests {
  private final class Bytes: ByteSource, ByteSink {
    var rest: [UInt8]
    init(_ bytes: [UInt8]) { rest = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      let count = min(buffer.count, rest.count)
      buffer.copyBytes(from: rest.prefix(count))
      rest.removeFirst(count)
      return count
    }

    func write(_ buffer: UnsafeRawBufferPointer) { rest += buffer }
  }

  private func stream(_ bytes: [UInt8]) -> TalkStream {
    let bytes = Bytes(bytes)
    return TalkStream(source: bytes, sink: bytes)
  }

  @Test("the magic is found behind what a shell says, within 64 KiB")
  func magic() throws {
    let room = TalkStream.bannerLimit - TalkStream.magic.count
    for banner in [[], Array("Welcome\n\n".utf8), [UInt8](repeating: 10, count: room)] {
      #expect(try stream(banner + TalkStream.magic).findMagic() == nil)
    }
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: TalkStream.bannerLimit)
    #expect(try stream(long + TalkStream.magic).findMagic() == String(repeating: "x", count: 200))
    #expect(try stream(Array("220 mail\nmore".utf8)).findMagic() == "220 mail")
    let other = #expect(throws: GodwitError.self) { try stream(Array("Hello\nGODWIT TALK 2\n".utf8)).findMagic() }
    #expect(other?.code == .unsupportedVersion)
  }

  @Test("a message has a megabyte at most, and one that is none is refused before it is read")
  func messages() throws {
    let whole = TalkStream.Message.chunk([UInt8](repeating: 7, count: TalkStream.messageLimit))
    let bytes = Bytes([])
    let both = TalkStream(source: bytes, sink: bytes)
    try both.write(whole)
    #expect(try both.read() == whole)
    let tooLong = #expect(throws: GodwitError.self) { try stream([2, 0, 0x10, 0, 1]).read() }
    #expect(tooLong?.code == .limitExceeded && tooLong?.hint?.isEmpty == false)
    let none = #expect(throws: GodwitError.self) { try stream([9, 0, 0, 0, 0]).read() }
    #expect(none?.code == .corruptFile)
    let cut = #expect(throws: GodwitError.self) { try stream([2, 0, 0, 0, 9, 1]).read() }
    #expect(cut?.code == .unreachable)
  }

  @Test("what the other side said before it went is read by who cannot write any more")
  func lastWords() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let here = SocketStream(ends[0], name: "there")
    let stream = TalkStream(source: here, sink: here)
    do {
      let there = SocketStream(ends[1], name: "here")
      try TalkStream(source: there, sink: there).write(.failure([1, 2, 3]))
    }
    // Its end is closed now.
    let error = #expect(throws: GodwitError.self) { try stream.write(.bye) }
    #expect(error?.code == .unreachable)
    #expect(stream.lastWords(after: try #require(error)) == .failure([1, 2, 3]))
    #expect(stream.lastWords(after: GodwitError(.unreachable, "of another kind")) == nil)
  }
}
