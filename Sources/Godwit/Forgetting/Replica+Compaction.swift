import GodwitBase
import GodwitKeys
import GodwitReplication
import GodwitStorage

extension Replica {
  /// Forgets the history that every active member is known to hold, and gives the space back. A replica without other
  /// members keeps none.
  ///
  /// Imports do as much by themselves, a bounded piece each time. Other writes go on in between.
  ///
  /// - Throws: `diskFull`, `busy`. What had been done by then stays done.
  @discardableResult
  public func compact() async throws -> CompactionReport {
    let before = try await databasePages()
    var progress = Forgetting.Progress()
    while !progress.isDone { progress = try await forget(progress) }
    try await withWriter { try $0.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    let after = try await databasePages()
    return CompactionReport(
      transactions: progress.transactions, rows: progress.rows, bytes: max(0, before - after) * DatabaseFile.pageSize)
  }

  /// One step.
  func forget(
    _ progress: Forgetting.Progress = Forgetting.Progress(), portion: Forgetting.Portion = Forgetting.Portion()
  ) async throws -> Forgetting.Progress {
    let roster = try await withKeyring { $1 }
    return try await withWriter { writer in
      var progress = progress
      try Forgetting(writer, roster, portion: portion).step(&progress)
      return progress
    }
  }

  /// As much as keeps up with an import of so many transactions, once the log is worth it. The import is done: that
  /// space cannot be given back just now is no failure of it.
  func forget(afterApplying count: Int) async {
    do {
      let kept = keptTransactions
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
  /// rest to be written to again.
  func forgetAlone() async {
    do {
      let isMuch = try await withWriter { writer in
        let sql = "SELECT count(*) FROM (SELECT 1 FROM godwit_log LIMIT 65)"
        return try writer.connection.scalar(sql) == .integer(65)
      }
      guard isMuch, try await withKeyring({ $1.active.count == 1 }) else { return }
      var progress = Forgetting.Progress()
      while !progress.isDone { progress = try await forget(progress, portion: .withoutPages) }
    } catch {
      logger.debug("forgetting must wait", metadata: ["error": "\(error)"])
    }
  }

  private func databasePages() async throws -> Int {
    try await withWriter { writer in
      guard case .integer(let count)? = try writer.connection.scalar("PRAGMA page_count") else { return 0 }
      return Int(count)
    }
  }
}
