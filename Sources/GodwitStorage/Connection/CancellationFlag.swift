import CSQLCipher
import Synchronization

/// Interrupts a connection from another thread.
///
/// SQLite forgets an interrupt that comes between two statements or while one begins, so the flag is also looked at
/// before each one, and every 10,000 steps of SQLite's machine.
package final class CancellationFlag: Sendable {
  private let flag = Atomic(false)
  /// The open connection, as a bit pattern.
  private let handle = Mutex<UInt?>(nil)

  package init() {}

  /// sqlite3_interrupt may be called from any thread while the connection is open; the lock keeps it open.
  package func cancel() {
    flag.store(true, ordering: .releasing)
    handle.withLock { handle in
      if let handle { sqlite3_interrupt(OpaquePointer(bitPattern: handle)) }
    }
  }

  package func clear() { flag.store(false, ordering: .releasing) }

  package var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func attach(_ opened: OpaquePointer) { handle.withLock { $0 = UInt(bitPattern: opened) } }
  func detach() { handle.withLock { $0 = nil } }
}

extension Connection {
  /// Has SQLite look at the flag every so many steps, which mostly take it less than a millisecond.
  func watchCancellation() {
    sqlite3_progress_handler(
      handle, 10_000,
      { context in
        guard let context else { return 0 }
        return Unmanaged<CancellationFlag>.fromOpaque(context).takeUnretainedValue().isCancelled ? 1 : 0
      }, Unmanaged.passUnretained(cancellation).toOpaque())
  }
}
