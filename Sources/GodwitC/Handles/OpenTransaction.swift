import Foundation
import Godwit
import GodwitEngine
import Synchronization

/// A transaction that C works in from its own thread, while the thread that owns the connection waits for its end.
///
/// Unchecked Sendable: the owning thread writes `scope` before it signals `opened` and touches nothing until `ending`
/// is signalled; in between what may change is touched only under `use`.
final class OpenTransaction: Handled, @unchecked Sendable {
  static let title = "transaction"

  private let owner: OpenReplica
  let isWriting: Bool
  private let thread = pthread_self()
  private let home = ThreadTransactions.here
  /// Held while a call works in it, so that another thread takes it back only between calls.
  private let use = NSLock()
  private let opened = DispatchSemaphore(value: 0)
  private let ending = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private var scope: Reader?
  private let isCommitting = Atomic(false)
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let failure = Mutex<(any Error)?>(nil)
  private var rows: [ObjectIdentifier: OpenRows] = [:]
  private var number: UInt = 0

  private struct TakenBack: Error {}

  private init(of owner: OpenReplica, isWriting: Bool) {
    self.owner = owner
    self.isWriting = isWriting
  }

  /// Begins one.
  ///
  /// Throws `busy` when others do not end theirs in time, and `CancellationError` when it is interrupted meanwhile.
  static func begin(in owner: OpenReplica, isWriting: Bool) throws -> OpenTransaction {
    let transaction = OpenTransaction(of: owner, isWriting: isWriting)
    try owner.admit(isWriting: isWriting)
    defer { owner.noteAdmitted() }
    let task = Task.detached { await transaction.run() }
    transaction.task.withLock { $0 = task }
    let number = owner.begin(task)
    defer { owner.end(number) }
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
    transaction.home.add(transaction)
    return transaction
  }

  func note(_ number: UInt) { self.number = number }

  private func run() async {
    var upkeep: Replica.Upkeep?
    do {
      if isWriting {
        upkeep = try await owner.replica.commit { try self.serve($0) }.1
      } else {
        try await owner.replica.read { try self.serve($0) }
      }
    } catch is TakenBack {
    } catch {
      failure.withLock { $0 = error }
    }
    owner.upkeep.enter()
    defer { owner.upkeep.leave() }
    opened.signal()
    ended.signal()
    // Only who closes the replica waits for that: it comes after what others have begun to write.
    if let upkeep { await owner.replica.run(upkeep) }
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

  // MARK: Use

  /// Runs the part of a call that works in it.
  func reading<Output>(_ body: (Reader) throws -> Output) throws -> Output {
    guard isOfThisThread else {
      throw CallFailure.misuse(
        "the transaction is another thread's",
        hint: "the thread that began it uses it and commits it; others may roll it back")
    }
    return try use.withLock { try body(openScope()) }
  }

  /// The same for one that writes.
  func writing<Output>(_ body: (Transaction) throws -> Output) throws -> Output {
    try reading { reader in
      guard let transaction = reader as? Transaction else {
        throw GodwitError(.readOnly, "the transaction only reads", hint: "begin it with GODWIT_WRITE")
      }
      return try body(transaction)
    }
  }

  private func openScope() throws -> Reader {
    guard let scope else { throw CallFailure.misuse("this is no open transaction") }
    return scope
  }

  // MARK: Its end

  /// Ends it and its rows; throws what keeps it from being committed.
  func commit() throws { try reading { _ in try finish(committing: true) } }

  /// Takes it back, for any thread. Throws `busy` while a call of another thread works in it, and `GODWIT_MISUSE` where
  /// another thread may still read the row that it read last.
  func rollBack() throws {
    guard !isOfThisThread else { return try reading { _ in try finish(committing: false) } }
    try exclusively {
      _ = try openScope()
      guard !rows.values.contains(where: \.isOpen) else {
        throw CallFailure.misuse("the transaction is another thread's, and has open rows", hint: "close its rows first")
      }
      try finish(committing: false)
    }
  }

  /// The same where there is nobody to throw to, for the thread that began it: unless it exits in a handler of a signal
  /// that has broken into a call of its own.
  func abandon() {
    guard use.lock(before: Date(timeIntervalSinceNow: 1)) else { return }
    defer { use.unlock() }
    if scope != nil { try? finish(committing: false) }
  }

  /// Breaks off its statement; from then on it can only be taken back.
  func interrupt() { task.withLock { $0 }?.cancel() }

  private func exclusively(_ body: () throws -> Void) throws {
    guard use.lock(before: Date(timeIntervalSinceNow: owner.patience)) else {
      throw GodwitError(.busy, "another thread works in the transaction", hint: "wait for the end of its call")
    }
    defer { use.unlock() }
    try body()
  }

  private func finish(committing: Bool) throws {
    home.remove(self)
    HandleTable.remove(number)
    for rows in rows.values {
      rows.close()
      HandleTable.remove(rows.number)
    }
    rows = [:]
    isCommitting.store(committing, ordering: .relaxed)
    ending.signal()
    ended.wait()
    owner.remove(self)
    if let failure = failure.withLock({ $0 }) { throw failure }
  }

  // MARK: Its rows

  /// Rows that end with it; their handle.
  func add(_ rows: OpenRows) -> OpaquePointer? {
    self.rows[ObjectIdentifier(rows)] = rows
    return HandleTable.add(rows)
  }

  /// Closes rows, for any thread: whoever closes them reads them no more.
  func close(_ rows: OpenRows) throws {
    try exclusively {
      HandleTable.remove(rows.number)
      self.rows[ObjectIdentifier(rows)] = nil
      rows.close()
    }
  }
}
