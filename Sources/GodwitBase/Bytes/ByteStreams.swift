/// Where bytes come from, one buffer at a time.
package protocol ByteSource: AnyObject {
  /// Fills up to `buffer.count` bytes and returns how many; 0 means the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Where bytes go.
package protocol ByteSink: AnyObject {
  func write(_ buffer: UnsafeRawBufferPointer) throws
}

extension ByteSink {
  package func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try write($0) } }
}

extension ByteSource {
  /// Fills the whole buffer unless the end comes first; returns how many bytes were read.
  package func readFully(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  /// Exactly `count` bytes, or `truncatedFile`. The caller has checked `count` against its limits. Memory grows with
  /// what is there, not with what is claimed.
  package func readExactly(_ count: Int) throws -> [UInt8] {
    var bytes = try readPiece(min(count, 1 << 20))
    while bytes.count < count { bytes += try readPiece(min(count - bytes.count, bytes.count)) }
    return bytes
  }

  private func readPiece(_ count: Int) throws -> [UInt8] {
    let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try readFully(into: UnsafeMutableRawBufferPointer(buffer))
    }
    guard bytes.count == count else {
      throw GodwitError(.truncatedFile, "the data ends too early")
    }
    return bytes
  }

  /// Everything up to the end, or `limitExceeded` once there is more than `limit`.
  package func readToEnd(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let chunk = try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
        count = try read(into: UnsafeMutableRawBufferPointer(buffer))
      }
      if chunk.isEmpty { return bytes }
      bytes += chunk
      guard bytes.count <= limit else { throw GodwitError(.limitExceeded, "the file is larger than \(limit) bytes") }
    }
  }
}

/// A source over bytes in memory.
package final class MemorySource: ByteSource {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { rest = bytes[...] }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = min(buffer.count, rest.count)
    buffer.copyBytes(from: rest.prefix(count))
    rest = rest.dropFirst(count)
    return count
  }
}

/// A sink that keeps what it is given.
package final class MemorySink: ByteSink {
  package private(set) var bytes: [UInt8] = []
  package init() {}
  package func write(_ buffer: UnsafeRawBufferPointer) throws { bytes.append(contentsOf: buffer) }
  /// Forgets what was written.
  package func restart() { bytes = [] }
}
