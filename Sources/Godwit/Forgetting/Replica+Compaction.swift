import GodwitBase
import GodwitKeys
import GodwitCore
import GodwitEngine
import GodwitRemotes
import GodwitStorage

extension Replica.Maintenance {
  /// Forgets the history that every active member is known to hold, and gives the space back. A replica without other
  /// members keeps none; one that needs a state file of another's keeps all for as long as the latest mailbox at some
  /// remote shows that.
  ///
  /// Imports do as much by themselves, a bounded piece each time. Other writes run in between.
  ///
  /// - Throws: `diskFull`, `busy`; `CancellationError`. What had been done by then stays done.
  @discardableResult
  public func compact() async throws -> CompactionReport {
    let before = try await replica.databasePages()
    var progress = Forgetting.Progress()
    while !progress.isDone {
      try Task.checkCancellation()
      progress = try await replica.forget(progress)
    }
    try await replica.withWriter { try $0.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    let after = try await replica.databasePages()
    return CompactionReport(
      transactions: progress.transactions, rows: progress.rows, bytes: max(0, before - after) * DatabaseFile.pageSize)
  }
}

extension Replica {
  /// One step.
  package func forget(
    _ progress: Forgetting.Progress = Forgetting.Progress(), portion: Forgetting.Portion = Forgetting.Portion()
  ) async throws -> Forgetting.Progress {
    let roster = try await withKeyring { $1 }
    return try await withWriter { writer in
      var progress = progress
      let needsState = try Self.needsState(writer, roster)
      try Forgetting(writer, roster, portion: portion, needsState: needsState).step(&progress)
      return progress
    }
  }

  /// Whether the mailbox of some other member's living incarnation shows that this replica needs a state.
  private static func needsState(_ writer: ReplicaWriter, _ roster: Roster) throws -> Bool {
    let ended = writer.log.origins.ended
    return try RemoteNotes(writer.connection).mailboxesShowingNeed().contains { name in
      guard let author = RemoteName(name)?.origin else { return false }
      return roster[author.replica]?.isActive == true && ended[author] == nil
    }
  }

  /// As much as keeps up with an import of so many transactions, once the log is worth it. The import is done: that
  /// space cannot be given back just now is no failure of it.
  func forget(afterApplying count: Int) async {
    do {
      let kept = tuning.keptTransactions
      guard try await withWriter({ try Forgetting.isDue($0, keeping: kept) }) else { return }
      var progress = Forgetting.Progress()
      for _ in 0...(count / Forgetting.Portion.small.transactions) where !progress.isDone {
        progress = try await forget(progress, portion: .small)
      }
    } catch {
      logger.warning("forgetting must wait", metadata: ["error": "\(error)"])
    }
  }

  /// A replica without other members needs no history. It keeps the little that costs nothing, and the pages of the
  /// rest to be written to again. What others write meanwhile stays for the next time, so that this ends.
  func forgetAlone() async {
    do {
      let count = try await withWriter { try Self.transactionsWorthForgetting($0) }
      guard count > 0, try await withKeyring({ $1.active.count == 1 }) else { return }
      var progress = Forgetting.Progress()
      while !progress.isDone, progress.transactions <= count {
        progress = try await forget(progress, portion: .withoutPages)
      }
    } catch {
      logger.debug("forgetting must wait", metadata: ["error": "\(error)"])
    }
  }

  /// The same as the last job of the writer's thread.
  func forgetAtEnd(_ session: ReplicaSession) {
    do {
      guard let writer = session.writer else { return }
      let count = try Self.transactionsWorthForgetting(writer)
      guard count > 0 else { return }
      let roster = try trusted.load()
      guard roster.active.count == 1 else { return }
      var progress = Forgetting.Progress()
      while !progress.isDone, progress.transactions <= count {
        try Forgetting(writer, roster, portion: .withoutPages).step(&progress)
      }
    } catch {
      logger.debug("forgetting must wait", metadata: ["error": "\(error)"])
    }
  }

  /// How many transactions the log holds; 0 when they cost little. Who forgets more than were there at the beginning
  /// does so while others write, and might never end.
  private static func transactionsWorthForgetting(_ writer: ReplicaWriter) throws -> Int {
    guard try ChangeLog.count(on: writer.connection, limit: 65) == 65 else { return 0 }
    return try ChangeLog.count(on: writer.connection)
  }

  fileprivate func databasePages() async throws -> Int {
    try await withWriter { writer in
      guard case .integer(let count)? = try writer.connection.scalar("PRAGMA page_count") else { return 0 }
      return Int(count)
    }
  }
}
