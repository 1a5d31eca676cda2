import GodwitBase

/// Gives a source's bytes first by lines, then as they are, with none lost between.
final class LineSource: ByteSource {
  /// A line without its line feed.
  struct Line {
    var bytes: [UInt8] = []
    /// A line feed followed.
    var isTerminated = false
    /// The limit came before a line feed or the end.
    var isCut = false
  }

  private let source: any ByteSource
  private var buffer = [UInt8](repeating: 0, count: 4_096)
  private var unread = 0..<0

  init(_ source: any ByteSource) { self.source = source }

  /// The next line; a longer one is cut at the limit, and what follows is unspecified.
  func line(byteCountMax: Int) throws -> Line {
    var line = Line()
    while true {
      if unread.isEmpty {
        unread = 0..<(try buffer.withUnsafeMutableBytes { try source.read(into: $0) })
        if unread.isEmpty { return line }
      }
      let end = buffer[unread].firstIndex(of: UInt8(ascii: "\n"))
      line.bytes += buffer[unread.lowerBound..<(end ?? unread.upperBound)]
      unread = (end.map { $0 + 1 } ?? unread.upperBound)..<unread.upperBound
      if line.bytes.count > byteCountMax {
        line.bytes.removeLast(line.bytes.count - byteCountMax)
        line.isCut = true
        return line
      }
      if end != nil {
        line.isTerminated = true
        return line
      }
    }
  }

  /// The next byte, which stays to be read; nil at the end.
  func peek() throws -> UInt8? {
    if unread.isEmpty { unread = 0..<(try buffer.withUnsafeMutableBytes { try source.read(into: $0) }) }
    return unread.isEmpty ? nil : buffer[unread.lowerBound]
  }

  func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    guard !unread.isEmpty else { return try source.read(into: target) }
    let part = buffer[unread].prefix(target.count)
    target.copyBytes(from: part)
    unread = part.endIndex..<unread.upperBound
    return part.count
  }
}
