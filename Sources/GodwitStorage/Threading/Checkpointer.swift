import Dispatch
import Foundation
import GodwitBase
import Synchronization

/// Moves the write-ahead log into the database beside the writer, so that no commit waits for the database file to
/// be synced (Specs/storage.md, "Checkpoints").
final class Checkpointer: Sendable {
  /// From this many pages on the log is moved in the background: SQLite's own default.
  private static let startPages = 1_000
  /// A writer that never pauses is ahead of the background for ever, and the log can start over only when all of it
  /// has been moved. From here on the writer waits for that.
  private static let limitPages = 8_000

  private let thread: DatabaseThread<Connection>
  private let isRunning = Atomic(false)

  /// The connection opens with the first checkpoint.
  init(
    idleSeconds: Double?, closing: NSLock,
    _ makeConnection: @escaping @Sendable (CancellationFlag) throws -> Connection
  ) {
    thread = DatabaseThread(name: "godwit-checkpoint", idleSeconds: idleSeconds, closing: closing, makeConnection)
  }

  /// Takes over the writer's checkpoints.
  func observe(_ writer: Connection) {
    writer.observeCommits(
      CommitObserver { [weak self] pages in
        if pages >= Self.limitPages {
          self?.finish()
        } else if pages >= Self.startPages {
          self?.start()
        }
      })
  }

  private func start() {
    guard isRunning.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    thread.post { [self] connection in
      (try? connection.get())?.checkpoint()
      isRunning.store(false, ordering: .relaxed)
    }
  }

  private func finish() {
    let done = DispatchSemaphore(value: 0)
    thread.post { connection in
      (try? connection.get())?.checkpoint()
      done.signal()
    }
    done.wait()
  }

  func close() async { await thread.close() }
}
