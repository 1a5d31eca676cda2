import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Takes in a state file where a replica lacks what has been forgotten: a new member's first file, or a fenced
/// replica's way back (Specs/state-file.md, "Taking one in").
struct StateImport {
  private let file: SyncFileReader
  private let head: StateHead
  private let writer: ReplicaWriter
  private let members: Roster
  /// Whether all is taken back in the end.
  private let isPlanned: Bool
  /// All that the state file knows.
  private var sent: VersionVector { head.vector }

  /// What was taken in.
  struct Outcome {
    /// By table.
    let rows: [(table: String, count: Int)]
    /// Own transactions that were made anew.
    let replayed: Int
    /// What of them could not be.
    let conflicts: Int
  }

  init(_ file: SyncFileReader, _ head: StateHead, from members: Roster, writer: ReplicaWriter, isPlanned: Bool) {
    self.isPlanned = isPlanned
    self.members = members
    self.file = file
    self.head = head
    self.writer = writer
  }

  func run(isRejoining: Bool, _ progress: ProgressHandler?) throws -> Outcome {
    try requireNoBarrierBetween()
    let origins = writer.log.origins
    // What a new member wrote ahead of its first file is all it can lose.
    guard isRejoining || origins.othersVector.isEmpty else {
      throw GodwitError(
        .fenced, "this replica lacks what all others hold and have forgotten",
        hint: "nothing was changed; replace its state and make its own unsent changes anew: godwit import --rejoin FILE"
      )
    }
    // What was forgotten here cannot be made anew: it is the sender that lacks something. Of a removed member that is
    // given up, for nobody else could show how much of its history there was.
    let forgotten = try ForgottenVector.load(writer.log, on: writer.connection)
    let lacked = forgotten.origins.filter { sent[$0] < forgotten[$0] && members[$0.replica]?.isActive != false }
    guard lacked.isEmpty else { throw try unmet(lacked.map { Dot($0, forgotten[$0]) }) }
    let unsent = try unsentTransactions()
    if origins.vector.isEmpty { try RemoteNotes(writer.connection).forgetTaken() } else { try clear() }
    let besides = try Catalog.rearrange(file.header.tables, on: writer.connection)
    try writer.reload()
    let loader = try StateLoader(file, head, writer: writer)
    try loader.run(progress)
    for (table, columns) in besides {
      _ = try Catalog.grow(table, columns: columns, upTo: CollectionTable.heldMemberLimit, on: writer.connection)
    }
    try writer.reload()
    let conflicts = ConflictLog(writer.connection, origins: writer.log.origins)
    let lastConflict = try conflicts.last
    if !unsent.isEmpty { try Replay(writer).run(unsent) }
    try writer.merger().settleLocalRows(besides: conflicts.count(after: lastConflict))
    writer.tally.recomputeAll()
    return Outcome(
      rows: loader.rows, replayed: unsent.count, conflicts: try conflicts.count(after: lastConflict))
  }

  /// Why a state that lacks what has been forgotten here is refused.
  private func unmet(_ lacked: [Dot]) throws -> GodwitError {
    let stated = try writer.withAcknowledgements { $0.records[file.header.origin]?.stated }
    if let stated, stated.milliseconds > file.header.createdAt, lacked.allSatisfy(stated.vector.covers) {
      return GodwitError(
        .fenced, "the state file is older than what has been forgotten here",
        hint: "nothing was changed; ask its sender for a new one (godwit export --state FILE); "
          + "at a remote its sender replaces it after a day")
    }
    return GodwitError(
      .fenced, "the state file's sender lacks what has been forgotten here",
      hint:
        "nothing was changed; let the sender rejoin with a state file of this replica's: godwit import --rejoin FILE")
  }

  /// A state is taken in as it is: nothing of it waits for a barrier, and nothing is carried over one. Throws
  /// `needsMigration`.
  private func requireNoBarrierBetween() throws {
    let history = try MigrationHistory(writer.connection)
    let (own, sent) = (history.version, file.header.schemaVersion)
    let between = history.known.filter { $0.version > min(own, sent) && $0.version <= max(own, sent) }
    guard let barrier = between.first(where: { !$0.isAddition }) else { return }
    throw GodwitError(
      .needsMigration,
      "the state file is of schema version \(sent), this database of \(own), and between them is the barrier "
        + "\(barrier.version) \"\(barrier.name)\"",
      hint: own < sent
        ? "nothing was changed; update the program that owns this replica"
        : "nothing was changed; ask for a state file of a replica whose program is as new as this one's")
  }

  /// What this replica wrote that the state file does not know, in order.
  private func unsentTransactions() throws -> [LogOrder.Entry] {
    let held = writer.log.origins.vector
    var known = held
    for origin in held.origins where origin.replica == writer.log.origins.own.replica {
      known[origin] = min(sent[origin], held[origin])
    }
    var order = try writer.log.order(after: known, through: held)
    var entries: [LogOrder.Entry] = []
    while let entry = try order.next() { entries.append(entry) }
    return entries
  }

  /// Empties the database. Origins keep their numbers, by which the conflict log names them; this replica starts a new
  /// incarnation, for its old one's numbers may be in use.
  private func clear() throws {
    let connection = writer.connection
    let earlier = writer.log.origins.own
    try writer.anchor.startIncarnation(isPlanned: isPlanned)
    // Rows that stay on this replica may wait in limbo, too, and no state file brings them back.
    for table in writer.catalog.synced {
      try RowStates.removeAll(of: table.id, on: connection)
      try Limbo.removeAll(of: table.id, on: connection)
      try connection.execute("DELETE FROM \(SQLName.quoted(table.definition.name))")
    }
    // What others have written since is in the new state.
    for table in writer.catalog.tables { try FormerRows.remove(of: table.id, on: connection) }
    try ChangeLog.removeAll(on: connection)
    try StagedTransactions(connection: connection).removeAll()
    try Acknowledgements.removeAll(on: connection)
    try SignedAcknowledgements(connection: connection).removeAll()
    try SignedHeads(connection: connection).removeAll()
    try KnownForks(connection: connection).removeAll()
    try RemoteNotes(connection).forgetTaken()
    for name in [Meta.forgotten, .forgetting, .forgettingCursor, .forgottenThrough] {
      try Meta.remove(name, on: connection)
    }
    try OriginTable.reset(on: connection)
    try writer.reload()
    try writer.clock.forgetEveryRow()
    // What it wrote and the state file does not know is written anew; what others did is taken from those who hold it.
    let origins = writer.log.origins
    for origin in origins.all { try origins.moveEnd(of: origin, to: file.header.ended[origin] ?? sent[origin]) }
    try origins.end(earlier)
  }
}
