import CGodwit
import Foundation
import Godwit
import Synchronization

/// A descriptor that becomes readable when tables change.
final class OpenWatch: Handled {
  static let title = "watch"

  let replica: Replica
  private let event: Event
  private let task: Task<Void, Never>

  /// Throws `fileAccess` when the process has too many files open.
  init(_ replica: Replica, tables: [String]) throws {
    let event = try Event()
    self.replica = replica
    self.event = event
    let changes = replica.changes(of: tables)
    task = Task.detached {
      for await _ in changes { event.raise() }
      // Also of a watch that was opened while the replica was being closed.
      if !Task.isCancelled { event.finish() }
    }
  }

  /// It belongs to the watch.
  var descriptor: Int32 { event.descriptor }

  /// Whether it was readable. Throws `closed` once the replica is closed.
  func clear() throws -> Bool {
    let wasReadable = event.clear()
    guard !event.isFinished else { throw GodwitError(.closed, "the replica is closed") }
    return wasReadable
  }

  /// The replica is closed, as whoever waits for changes is to see.
  func finish() {
    task.cancel()
    event.finish()
  }

  /// Closes the descriptor.
  func close() {
    task.cancel()
    event.close()
  }
}

/// The kernel's event descriptor. Once it is closed nobody touches its number, which is soon another file's.
private final class Event: Sendable {
  /// As it was opened.
  let descriptor: Int32
  private let isOpen = Mutex(true)
  private let finished = Atomic(false)

  init() throws {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw GodwitError(.fileAccess, "there is no descriptor for a watch: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close() }

  func close() {
    isOpen.withLock { isOpen in
      if isOpen { _ = Foundation.close(descriptor) }
      isOpen = false
    }
  }

  /// Whether nothing more will happen.
  var isFinished: Bool { finished.load(ordering: .acquiring) }

  func finish() {
    finished.store(true, ordering: .releasing)
    raise()
  }

  func raise() {
    var one: UInt64 = 1
    isOpen.withLock { isOpen in
      // When the sum is full it is readable already.
      if isOpen { _ = withUnsafeBytes(of: &one) { write(descriptor, $0.baseAddress, $0.count) } }
    }
  }

  func clear() -> Bool {
    var sum: UInt64 = 0
    return isOpen.withLock { isOpen in
      isOpen && withUnsafeMutableBytes(of: &sum) { read(descriptor, $0.baseAddress, $0.count) } > 0
    }
  }
}
