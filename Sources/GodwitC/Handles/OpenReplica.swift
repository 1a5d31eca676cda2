import Foundation
import Godwit
import Synchronization

/// A replica that C has opened.
final class OpenReplica: Handled {
  static let title = "replica"

  let replica: Replica
  let busy: DispatchTimeInterval
  private let transactions = Mutex<[ObjectIdentifier: OpenTransaction]>([:])

  init(_ replica: Replica, busy: DispatchTimeInterval) {
    self.replica = replica
    self.busy = busy
  }

  func add(_ transaction: OpenTransaction) {
    transactions.withLock { $0[ObjectIdentifier(transaction)] = transaction }
  }

  func remove(_ transaction: OpenTransaction) {
    transactions.withLock { $0[ObjectIdentifier(transaction)] = nil }
  }

  var openTransactions: [OpenTransaction] { transactions.withLock { Array($0.values) } }

  /// Throws `busy` while a transaction is open: closing would wait for its end.
  func requireIdle() throws {
    let open = openTransactions.count
    guard open == 0 else {
      throw GodwitError(
        .busy, open == 1 ? "a transaction is open" : "\(open) transactions are open",
        hint: "commit it or roll it back before closing the replica")
    }
  }

  // MARK: The process's end

  /// Closes what is open when the process exits. Registered once a replica is open, so that it runs before what OpenSSL
  /// has registered, which must not meet threads that still use it.
  static let closesAtExit: Void = {
    atexit { OpenReplica.closeAll() }
  }()

  /// A replica with a transaction of another thread stays as it is: that thread may be anywhere.
  private static func closeAll() {
    guard (try? HandleTable.requireProcess()) != nil else { return }
    for open in HandleTable.all(OpenReplica.self) {
      for transaction in open.openTransactions where transaction.isOfThisThread {
        transaction.finish(committing: false)
      }
      guard open.openTransactions.isEmpty else { continue }
      let closed = DispatchSemaphore(value: 0)
      Task.detached {
        await open.replica.close()
        closed.signal()
      }
      _ = closed.wait(timeout: .now() + .seconds(10))
    }
  }
}
