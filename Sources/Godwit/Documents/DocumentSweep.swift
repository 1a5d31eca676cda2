import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// Deletes expired documents, some at a time (Specs/documents.md, "Expiry").
struct DocumentSweep {
  let writer: ReplicaWriter
  static let step = 256

  /// Deletes up to ``step`` documents in the writer's transaction, and returns how many there were.
  func run(now: Int64) throws -> Int {
    try writer.models.endRun()
    var count = 0
    for table in writer.catalog.synced where CollectionTable.collection(of: table.definition.name) != nil {
      let name = SQLName.quoted(table.definition.name)
      try writer.connection.run(
        "DELETE FROM \(name) WHERE _key IN (SELECT _key FROM \(name) WHERE _expires <= ? LIMIT ?)",
        [.integer(now), .integer(Int64(Self.step - count))])
      count += writer.connection.changes
      if count >= Self.step { break }
    }
    return count
  }
}

extension Replica.Maintenance {
  /// Deletes the documents that have expired by the machine's clock, in small steps.
  ///
  /// Writes do the same now and then; expired documents are in no result in any case.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func sweep() async throws -> Int {
    var total = 0
    while true {
      // The wall clock alone: what a member with a fast clock has made this replica hide is not to be lost for all.
      let now = replica.wallClock.milliseconds()
      let count = try await replica.withWriter { writer in
        try writer.write { _ in try DocumentSweep(writer: writer).run(now: now) }
      }
      total += count
      guard count == DocumentSweep.step else { return total }
    }
  }
}

extension Replica {
  /// What a write does now and then: a failure is of no interest to who wrote something else.
  func sweepAlone() async {
    do {
      try await maintenance.sweep()
    } catch {
      logger.debug("expired documents stay for now", metadata: ["error": "\(error)"])
    }
  }
}
