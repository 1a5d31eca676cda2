import Foundation
import Godwit
import GodwitEngine
import Synchronization

/// A transaction that C works in from its own thread, while the thread that owns the connection waits for its end.
///
/// Unchecked Sendable: the owning thread writes `reader` before it signals `opened` and touches nothing until `ending`
/// is signalled; in between only the thread that began it does, which every call checks.
final class OpenTransaction: Handled, @unchecked Sendable {
  static let title = "transaction"

  private let owner: OpenReplica
  let isWriting: Bool
  private let thread = pthread_self()
  private let opened = DispatchSemaphore(value: 0)
  private let ending = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private var scope: Reader?
  private let isCommitting = Atomic(false)
  private let failure = Mutex<(any Error)?>(nil)
  private var rows: [ObjectIdentifier: OpenRows] = [:]

  private struct TakenBack: Error {}

  private init(of owner: OpenReplica, isWriting: Bool) {
    self.owner = owner
    self.isWriting = isWriting
  }

  /// Begins one.
  ///
  /// Throws `busy` when others do not end theirs in time.
  static func begin(in owner: OpenReplica, isWriting: Bool) throws -> OpenTransaction {
    let transaction = OpenTransaction(of: owner, isWriting: isWriting)
    let hasOne = owner.openTransactions.contains { $0.isWriting && $0.isOfThisThread }
    guard !isWriting || !hasOne else {
      throw GodwitError(.busy, "this thread has a transaction that writes", hint: "commit it or roll it back first")
    }
    let task = Task.detached { await transaction.run() }
    if transaction.opened.wait(timeout: .now() + owner.patience) == .timedOut {
      task.cancel()
      transaction.ending.signal()
      transaction.ended.wait()
      throw OpenReplica.busy
    }
    if transaction.scope == nil {
      transaction.ended.wait()
      throw transaction.failure.withLock { $0 } ?? CancellationError()
    }
    owner.add(transaction)
    ThreadTransactions.here.add(transaction)
    return transaction
  }

  private func run() async {
    do {
      if isWriting {
        try await owner.replica.write { try self.serve($0) }
      } else {
        try await owner.replica.read { try self.serve($0) }
      }
    } catch is TakenBack {
    } catch {
      failure.withLock { $0 = error }
    }
    opened.signal()
    ended.signal()
  }

  /// Lends the thread's connection until C ends the transaction.
  private func serve(_ reader: Reader) throws {
    scope = reader
    opened.signal()
    ending.wait()
    scope = nil
    guard isCommitting.load(ordering: .relaxed) else { throw TakenBack() }
  }

  var isOfThisThread: Bool { pthread_equal(thread, pthread_self()) != 0 }

  var replica: Replica { owner.replica }

  /// What to read from.
  func reader() throws -> Reader {
    guard isOfThisThread else {
      throw CallFailure.misuse(
        "the transaction is another thread's", hint: "a transaction is used by the thread that began it")
    }
    guard let scope else { throw CallFailure.misuse("this is no open transaction") }
    return scope
  }

  /// What to write to.
  func writer() throws -> Transaction {
    guard let transaction = try reader() as? Transaction else {
      throw GodwitError(.readOnly, "the transaction only reads", hint: "begin it with GODWIT_WRITE")
    }
    return transaction
  }

  /// Ends it and its rows; throws what keeps it from being committed.
  func end(committing: Bool) throws {
    _ = try reader()
    finish(committing: committing)
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  /// The same where there is nobody to throw to. The thread that began it calls this.
  func finish(committing: Bool) {
    ThreadTransactions.here.remove(self)
    for rows in rows.values {
      rows.close()
      HandleTable.remove(rows.number)
    }
    rows = [:]
    isCommitting.store(committing, ordering: .relaxed)
    ending.signal()
    ended.wait()
    owner.remove(self)
  }

  /// Rows that end with it; their handle.
  func add(_ rows: OpenRows) -> OpaquePointer? {
    self.rows[ObjectIdentifier(rows)] = rows
    return HandleTable.add(rows)
  }

  func remove(_ rows: OpenRows) { self.rows[ObjectIdentifier(rows)] = nil }
}
