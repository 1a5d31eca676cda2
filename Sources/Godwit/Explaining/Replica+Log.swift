import Foundation
import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica.History {
  /// The latest transactions of all origins, newest first.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - table: Only those that wrote to one table.
  ///   - author: Only those of one replica.
  ///   - since: Only those of this time or later, by their writers' clocks.
  /// - Throws: `invalidArgument` for a negative limit; `notInSchema` for an unknown table that nothing in the log is
  ///   of.
  public func log(
    limit: Int = 50, table: String? = nil, replica author: ReplicaID? = nil, since: Date? = nil
  ) async throws -> [LogEntry] {
    try Replica.check(limit)
    let earliest = try since?.milliseconds(of: "the earliest time")
    return try await replica.pool.read { connection in
      let search = LogSearch(
        log: try ChangeLog(connection), table: table?.lowercased(), replica: author, since: earliest)
      let entries = try search.newest(limit)
      // The log may name a table that has been dropped.
      if entries.isEmpty, let table { _ = try Catalog(connection).everSynced(named: table, on: connection) }
      return entries
    }
  }

  /// One transaction with all its operations. Reads all of it into memory.
  ///
  /// - Parameters:
  ///   - sequence: Its sequence number.
  ///   - author: Who wrote it.
  ///   - incarnation: In which incarnation, as `LogEntry.incarnation` says; may be nil when only one has this number.
  /// - Throws: `notFound` when it is not held, or forgotten; `invalidArgument` when several incarnations have the
  ///   number.
  public func transaction(
    _ sequence: UInt64, of author: ReplicaID, incarnation: Incarnation.ID? = nil
  ) async throws -> LoggedTransaction {
    try await replica.pool.read { connection in
      let log = try ChangeLog(connection)
      let wanted = SequenceNumber(rawValue: sequence)
      let origins = log.origins.vector.origins.filter { origin in
        origin.replica == author && (incarnation == nil || origin.incarnationID == incarnation)
          && log.origins.vector[origin] >= wanted
      }
      guard origins.count < 2 else {
        let names = origins.map(\.incarnationID.description).joined(separator: ", ")
        throw GodwitError(
          .invalidArgument, "transaction \(sequence) is in several incarnations of \(author)",
          hint: "name one of them: \(names)")
      }
      var found: LoggedTransaction?
      if let origin = origins.first, sequence > 0 {
        let context = try log.othersContext(of: Dot(origin, wanted))
        try log.forEach(of: origin, after: SequenceNumber(rawValue: sequence - 1), through: wanted) { record, _ in
          found = try LoggedTransaction(record, context: context)
        }
      }
      guard let found else {
        throw GodwitError(
          .notFound, "transaction \(sequence) of \(author) is not in the log",
          hint: "it has not come yet, or every member has it and it was forgotten; see: godwit log")
      }
      return found
    }
  }
}
