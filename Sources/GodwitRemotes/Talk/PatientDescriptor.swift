import Foundation
import GodwitBase
import GodwitFiles

/// A descriptor that somebody has the other end of: it is given up once nothing has moved for as long as a talk
/// allows.
package final class PatientDescriptor: ByteSource, ByteSink, Sendable {
  private let file: FileDescriptor
  private let silence: Duration

  package init(_ file: FileDescriptor, silence: Duration = .seconds(TalkStream.silence)) {
    self.file = file
    self.silence = silence
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    try wait(for: POLLIN)
    return try file.read(into: buffer)
  }

  /// In pieces for which a pipe has room once it has any.
  package func write(_ buffer: UnsafeRawBufferPointer) throws {
    var rest = buffer
    while !rest.isEmpty {
      try wait(for: POLLOUT)
      let piece = min(rest.count, Int(PIPE_BUF))
      try file.write(UnsafeRawBufferPointer(rebasing: rest[..<piece]))
      rest = UnsafeRawBufferPointer(rebasing: rest[piece...])
    }
  }

  private func wait(for event: Int32) throws {
    var waiting = pollfd(fd: file.rawValue, events: Int16(event), revents: 0)
    let end = ContinuousClock.now + silence
    while true {
      let left = max(0, Int32((end - .now) / .milliseconds(1)))
      let count = poll(&waiting, 1, left)
      guard count == 0 || count < 0 && errno == EINTR else { return }
      guard .now < end else {
        throw GodwitError(.unreachable, "the other side says nothing any more", hint: "try again later")
      }
    }
  }
}
