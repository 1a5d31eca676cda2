import CSQLCipher
import Synchronization

/// Interrupts a connection from another thread.
///
/// SQLite forgets an interrupt that comes between two statements, so the flag is also looked at before each one.
package final class CancellationFlag: Sendable {
  private struct State {
    var isCancelled = false
    var handle: UInt?
  }
  private let state = Mutex(State())

  package init() {}

  /// sqlite3_interrupt may be called from any thread while the connection is open; the lock keeps it open.
  package func cancel() {
    state.withLock { state in
      state.isCancelled = true
      if let handle = state.handle { sqlite3_interrupt(OpaquePointer(bitPattern: handle)) }
    }
  }

  package func clear() { state.withLock { $0.isCancelled = false } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func attach(_ handle: OpaquePointer) { state.withLock { $0.handle = UInt(bitPattern: handle) } }
  func detach() { state.withLock { $0.handle = nil } }
}
