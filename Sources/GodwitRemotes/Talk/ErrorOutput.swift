import Foundation
import GodwitBase
import GodwitFiles
import Synchronization

/// The last of what a program writes as errors. A thread takes it in, so that the program never waits, and whatever it
/// leaves running with its end open.
final class ErrorOutput: Sendable {
  /// How many bytes are kept.
  private static let limit = 1 << 16
  /// How soon the thread finds that no more is wanted, in milliseconds.
  private static let patience: Int32 = 100

  private let reading: FileDescriptor
  private let last = Mutex<[UInt8]>([])
  private let isOver = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// - Parameter start: Called with the end for the program.
  /// - Throws: `fileAccess` where there is no pipe to be had; what `start` throws.
  init(_ start: (Int32) throws -> Void) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw GodwitError.file("make a pipe for", "errors", errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = FileDescriptor(ends[0], path: "errors")
    defer { close(ends[1]) }
    try start(ends[1])
    Thread.detachNewThread { self.drain() }
  }

  /// All that has come so far, as far as it is kept. Blocks for a moment; nothing is taken in any more.
  func finish() -> String {
    end()
    hasEnded.wait()
    hasEnded.signal()
    return String(decoding: last.withLock { $0.suffix(Self.limit) }, as: UTF8.self)
  }

  /// Takes nothing in any more.
  func end() { isOver.store(true, ordering: .relaxed) }

  private func drain() {
    var piece = [UInt8](repeating: 0, count: 4_096)
    // What is left running may write on for ever.
    var left = Self.limit
    while left > 0 {
      let isLast = isOver.load(ordering: .relaxed)
      var waiting = pollfd(fd: reading.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, isLast ? 0 : Self.patience) > 0 else {
        if isLast { break } else { continue }
      }
      let count = read(reading.rawValue, &piece, piece.count)
      guard count > 0 else {
        if count < 0, errno == EINTR { continue } else { break }
      }
      if isLast { left -= count }
      last.withLock { last in
        last += piece.prefix(count)
        if last.count > 2 * Self.limit { last.removeFirst(last.count - Self.limit) }
      }
    }
    hasEnded.signal()
  }
}
