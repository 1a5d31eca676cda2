import CGodwit
import Foundation
import Godwit

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
      // Whoever waits for it is to see that the replica is closed.
      event.raise()
    }
  }

  /// It belongs to the watch.
  var descriptor: Int32 { event.descriptor }

  /// Whether it was readable.
  func clear() -> Bool { event.clear() }

  /// No changes make it readable any more. It is closed once nobody is about to raise it.
  func stop() { task.cancel() }
}

/// The kernel's event descriptor, closed when nobody has it any more: its number is soon another file's.
private final class Event: Sendable {
  let descriptor: Int32

  init() throws {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw GodwitError(.fileAccess, "there is no descriptor for a watch: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  func raise() {
    var one: UInt64 = 1
    // When the sum is full it is readable already.
    _ = withUnsafeBytes(of: &one) { write(descriptor, $0.baseAddress, $0.count) }
  }

  func clear() -> Bool {
    var sum: UInt64 = 0
    return withUnsafeMutableBytes(of: &sum) { read(descriptor, $0.baseAddress, $0.count) } > 0
  }
}
