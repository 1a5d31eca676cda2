import Foundation
import Godwit
import ToolSupport

/// The bytes of a file or of the standard input, one after another.
final class DocumentBytes {
  private let descriptor: Int32
  private let closes: Bool
  private var buffer: [UInt8] = []
  private var place = 0
  /// What the file is called.
  let name: String
  /// How many bytes there are, when that is known.
  let size: Int?
  /// Bytes that have been taken so far.
  private(set) var offset = 0
  /// Where the next byte is.
  private(set) var position = TextPosition()

  private static let chunkSize = 1 << 16
  /// How soon a wait notices that the user has interrupted it.
  private static let waitMilliseconds: Int32 = 50

  init(_ path: String) throws {
    guard path != "-" else {
      guard !StandardStream.input.isTerminal else {
        throw GodwitError(
          .invalidArgument, "the standard input is a terminal", hint: "give a file, or pipe one in: … | godwit put …")
      }
      (descriptor, name, closes, size) = (FileHandle.standardInput.fileDescriptor, "the standard input", false, nil)
      return
    }
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else {
      throw GodwitError(.fileAccess, "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    (descriptor, name, closes) = (opened, path, true)
    size = fstat(opened, &status) == 0 && status.st_size > 0 ? Int(status.st_size) : nil
  }

  deinit { if closes { close(descriptor) } }

  func skipSpace() throws {
    while let byte = try peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { take() }
  }

  /// Steps over the byte that was peeked at.
  func take() {
    guard place < buffer.count else { return }
    position.step(over: buffer[place])
    place += 1
    offset += 1
  }

  /// The next byte, or nil at the end.
  ///
  /// - Throws: `fileAccess`; `CancellationError`.
  func peek() throws -> UInt8? {
    if place < buffer.count { return buffer[place] }
    buffer = [UInt8](repeating: 0, count: Self.chunkSize)
    place = 0
    while true {
      try wait()
      let count = read(descriptor, &buffer, Self.chunkSize)
      if count >= 0 {
        buffer.removeLast(Self.chunkSize - count)
        return buffer.first
      }
      guard errno == EINTR else {
        buffer = []
        throw GodwitError(.fileAccess, "cannot read \(name): \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Until there is something to read. A pipe may keep one waiting for long, and Ctrl-C should not.
  private func wait() throws {
    var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    repeat { try Task.checkCancellation() } while poll(&awaited, 1, Self.waitMilliseconds) == 0
  }
}
