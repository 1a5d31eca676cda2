import GodwitBase

/// A source whose first bytes have been looked at and are given out all the same.
package final class StartedSource: ByteSource {
  package let start: [UInt8]
  private let source: any ByteSource
  private var unread: ArraySlice<UInt8>

  /// Looks at the first `count` bytes, or all there are when these are fewer.
  package init(_ source: any ByteSource, count: Int) throws {
    self.source = source
    start = try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try source.readFully(into: UnsafeMutableRawBufferPointer(buffer))
    }
    unread = start[...]
  }

  package func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    guard !unread.isEmpty else { return try source.read(into: target) }
    let part = unread.prefix(target.count)
    target.copyBytes(from: part)
    unread = unread.dropFirst(part.count)
    return part.count
  }
}
