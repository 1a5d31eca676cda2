import Foundation

/// The lines of a stream of bytes, in bounded memory.
struct LineReader {
  /// No field of a real archive comes near it; it keeps a file without line ends from filling the memory.
  static let lineLimit = 1 << 20
  private static let newline: Int32 = 0x0A

  /// The line last returned, counted from 1.
  private(set) var number = 0
  private let nextChunk: () throws -> [UInt8]
  private var buffer: [UInt8] = []
  private var position = 0
  private var searched = 0

  /// `nextChunk` returns the bytes that follow, none at the end.
  init(_ nextChunk: @escaping () throws -> [UInt8]) { self.nextChunk = nextChunk }

  /// The next line without its end, or nil after the last.
  mutating func next() throws -> ArraySlice<UInt8>? {
    while true {
      if let end = newline(from: max(position, searched)) {
        let line = buffer[position..<end]
        position = end + 1
        number += 1
        return line
      }
      guard try refill() else { return nil }
    }
  }

  private mutating func refill() throws -> Bool {
    let chunk = try nextChunk()
    let rest = buffer.count - position
    if chunk.isEmpty, rest == 0 { return false }
    guard !chunk.isEmpty else { throw ControlSyntaxError(problem: .unfinishedLine, line: number + 1) }
    guard rest <= Self.lineLimit else { throw ControlSyntaxError(problem: .lineTooLong, line: number + 1) }
    buffer = Array(buffer[position...]) + chunk
    position = 0
    searched = rest
    return true
  }

  private func newline(from start: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard start < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + start, Self.newline, bytes.count - start)
      else { return nil }
      return base.distance(to: found)
    }
  }
}
