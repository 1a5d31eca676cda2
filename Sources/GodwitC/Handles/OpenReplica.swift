import Foundation
import Godwit

/// A replica that C has opened.
///
/// Unchecked Sendable: what may change is touched only under `condition`.
final class OpenReplica: Handled, @unchecked Sendable {
  static let title = "replica"

  let replica: Replica
  /// How long one waits for transactions of other threads, in seconds.
  let patience: TimeInterval
  private let condition = NSCondition()
  private var transactions: [ObjectIdentifier: OpenTransaction] = [:]
  /// What calls wait for now, by the number of the call.
  private var works: [UInt: Task<Void, Never>] = [:]
  private var workCount: UInt = 0
  /// What is still done after transactions that have been committed.
  let upkeep = DispatchGroup()
  /// How often what was under way has been broken off.
  private var interruptions = 0
  /// Transactions that are about to begin.
  private var beginning = 0
  private var isClosing = false

  /// How many read transactions run at once.
  private static let readers = 4

  init(_ replica: Replica, patience: TimeInterval) {
    self.replica = replica
    self.patience = patience
  }

  func add(_ transaction: OpenTransaction) {
    condition.withLock { transactions[ObjectIdentifier(transaction)] = transaction }
  }

  func remove(_ transaction: OpenTransaction) {
    condition.withLock {
      transactions[ObjectIdentifier(transaction)] = nil
      condition.broadcast()
    }
  }

  /// Lets a transaction of this thread begin, until ``noteAdmitted()``.
  ///
  /// Throws `busy` for what only this thread's own end of another transaction could make room for; `closed` when the
  /// replica is being closed.
  func admit(isWriting: Bool) throws {
    try condition.withLock {
      guard !isClosing else { throw GodwitError(.closed, "the replica is closed") }
      let own = transactions.values.filter { $0.isWriting == isWriting && $0.isOfThisThread }.count
      guard own < (isWriting ? 1 : Self.readers) else {
        let those = isWriting ? "a transaction that writes" : "\(own) transactions that read"
        throw GodwitError(.busy, "this thread has \(those)", hint: "end one of them first")
      }
      beginning += 1
    }
  }

  func noteAdmitted() { condition.withLock { beginning -= 1 } }

  var openTransactions: [OpenTransaction] { condition.withLock { Array(transactions.values) } }

  /// Runs work that reads and writes by itself, once no other thread's transactions are in its way.
  ///
  /// Throws as `outsideTransactions`, and what the work throws.
  ///
  /// - Parameter isReading: Whether it only reads, so that transactions that write are in nobody's way.
  func working<Output: Sendable>(
    isReading: Bool = false, _ body: @escaping @Sendable (Replica) async throws -> Output
  ) throws -> Output {
    let replica = try outsideTransactions(isReading: isReading)
    return try running { try await body(replica) }
  }

  /// Runs work that no transaction is in the way of.
  func running<Output: Sendable>(_ body: @escaping @Sendable () async throws -> Output) throws -> Output {
    var number: UInt?
    defer { if let number { end(number) } }
    return try waiting(whenStarted: { number = begin($0) }, for: body)
  }

  /// Lets `interrupt` cancel what a call waits for, until the call's number is given back.
  func begin(_ work: Task<Void, Never>) -> UInt {
    condition.withLock {
      workCount += 1
      works[workCount] = work
      return workCount
    }
  }

  func end(_ number: UInt) { condition.withLock { works[number] = nil } }

  /// Breaks off what is under way now, of any thread.
  func interrupt() {
    let (works, transactions) = condition.withLock {
      interruptions += 1
      condition.broadcast()
      return (Array(self.works.values), Array(self.transactions.values))
    }
    for work in works { work.cancel() }
    for transaction in transactions { transaction.interrupt() }
  }

  /// The replica, for work that reads and writes by itself.
  ///
  /// Throws `busy` while this thread has a transaction of it open, for which the work would wait; and when those of
  /// other threads do not end in time. Throws `CancellationError` when it is interrupted while it waits.
  private func outsideTransactions(isReading: Bool) throws -> Replica {
    condition.lock()
    defer { condition.unlock() }
    guard !transactions.values.contains(where: \.isOfThisThread) else {
      throw GodwitError(.busy, "this thread has a transaction open", hint: "commit it or roll it back first")
    }
    let (end, before) = (Date(timeIntervalSinceNow: patience), interruptions)
    while isInUse(isReading) {
      guard interruptions == before else { throw CancellationError() }
      guard condition.wait(until: end) || !isInUse(isReading) else { throw Self.busy }
    }
    return replica
  }

  private func isInUse(_ isReading: Bool) -> Bool {
    let writers = transactions.values.count(where: \.isWriting)
    return !isReading && writers > 0 || transactions.count - writers >= Self.readers
  }

  /// Others have been waited for in vain.
  static var busy: GodwitError {
    GodwitError(.busy, "other transactions do not end", hint: "commit them or roll them back, or wait longer")
  }

  /// Lets no transaction begin any more. Throws `busy` while one is open, or about to begin: closing would wait for its
  /// end.
  func beginClosing() throws {
    try condition.withLock {
      let open = transactions.count + beginning
      guard open == 0 else {
        throw GodwitError(
          .busy, open == 1 ? "a transaction is open" : "\(open) transactions are open",
          hint: "commit it or roll it back before closing the replica")
      }
      isClosing = true
    }
  }

  // MARK: The process's end

  /// Closes what is open when the process exits. Registered once a replica is open, so that it runs before what OpenSSL
  /// has registered where the host had called it before: that must not meet threads that still use it.
  static let closesAtExit: Void = {
    atexit { OpenReplica.closeAll() }
  }()

  /// A replica with a transaction of another thread stays as it is: that thread may be anywhere.
  private static func closeAll() {
    guard (try? HandleTable.requireProcess()) != nil else { return }
    for open in HandleTable.all(OpenReplica.self) {
      for transaction in open.openTransactions where transaction.isOfThisThread {
        transaction.abandon()
      }
      guard open.openTransactions.isEmpty else { continue }
      let closed = DispatchSemaphore(value: 0)
      Task.detached {
        await open.replica.close()
        closed.signal()
      }
      _ = closed.wait(timeout: .now() + .seconds(10))
      _ = open.upkeep.wait(timeout: .now() + .seconds(10))
    }
  }
}
