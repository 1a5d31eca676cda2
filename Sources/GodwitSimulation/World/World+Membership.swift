import Godwit
import GodwitCore
import GodwitEngine

extension World {
  /// - Parameter portion: How much is forgotten; all that may be without.
  func compact(_ actor: Actor, portion: Int? = nil) async throws {
    if let portion {
      _ = try await actor.replica.forget(portion: Forgetting.Portion(transactions: portion, rows: portion))
    } else {
      _ = try await actor.replica.maintenance.compact()
    }
    let now = try await actor.replica.standing()
    guard now.held == actor.standing.held, now.own == actor.standing.own else {
      throw SimulationFailure(.durability, "replica \(actor.index) holds other transactions than before it forgot")
    }
    actor.standing = now
  }

  /// Removing oneself, or one who is removed, is refused.
  func remove(_ actor: Actor, by remover: Actor) async throws {
    do {
      try await remover.replica.members.remove(actor.name)
      for copy in copies(of: actor) { copy.wasAway = true }
    } catch let error as GodwitError where error.code == .invalidArgument {}
  }

  /// A clock that says it was before the removal makes nobody a member again.
  func readmit(_ actor: Actor, by host: Actor, file: Int) async throws {
    guard actor.owner != host.owner, !host.mustRejoin else { return }
    do {
      try await host.replica.members.invite(
        actor.replica.identity, name: actor.name, verification: .trustOnFirstUse,
        to: .file("\(folder)/invitation-\(file)"))
    } catch let error as GodwitError where error.code == .invalidArgument { return }
    files[file] = try await stateFile(of: host, for: actor, to: "\(folder)/\(file).godwit-sync")
    for copy in copies(of: actor) {
      copy.mustRejoin = true
      copy.readmissions += 1
    }
  }

  /// All that write as one member: it and its clones.
  private func copies(of actor: Actor) -> [Actor] { actors.filter { $0.owner == actor.owner } }

  func stateFile(of host: Actor, for actor: Actor, to path: String) async throws -> SyncFileInFlight {
    _ = try await host.replica.exportState(to: .file(path), for: actor.name)
    return SyncFileInFlight(
      path: path, sender: host.index, held: host.standing.held, recipients: [actor.owner], isStateFile: true,
      readmissions: host.readmissions)
  }

  /// What a replica wrote and a state file lacks is made anew on top of it, as one transaction of a new incarnation.
  func rejoin(_ actor: Actor, with file: SyncFileInFlight) async throws {
    guard let report = try await merging(file, into: actor, { try await actor.replica.rejoin(from: .file(file.path)) })
    else { return }
    try await settleRejoin(report, file, on: actor)
  }

  func settleRejoin(_ report: MergeReport, _ file: SyncFileInFlight, on actor: Actor) async throws {
    actor.mustRejoin = false
    guard report.applied.state != nil else { return try await settleImport(on: actor) }
    try await settleStateFile(report, file, on: actor)
  }

  /// The replica holds what the file does, and its own work on top of it.
  func settleStateFile(_ report: MergeReport, _ file: SyncFileInFlight, on actor: Actor) async throws {
    let before = actor.standing
    let now = try await actor.replica.standing()
    actor.standing = now
    actor.hasLoadedState = true
    actor.wasAway = true
    let lost = history.transactions(in: before.held).filter { !now.held.covers($0.dot) }
    let startsAnew = !before.held.isEmpty
    let unsent = lost.filter { $0.dot.origin.replica == now.own.replica }
    forgettable.formUnion(unsent.map(\.dot))
    guard now.own != before.own || !startsAnew, report.applied.state?.replayed == unsent.count else {
      throw SimulationFailure(
        .durability,
        "replica \(actor.index) had \(unsent.count) transactions of its own, and made \(report.applied.state?.replayed ?? 0) anew: "
          + "\(before.held.text) on \(file.held.text) is \(now.held.text)")
    }
    let made = try await adoptOwn(of: actor)
    guard let last = made.last else { return }
    let model = MergeModel(history.transactions(in: file.held), at: actor.version)
    let listed = try await ListedConflicts(reading: actor.replica)
    try checkReplay(of: unsent, last.operations, on: model, listed, actor)
    if isFollowed { try checkReplaced(by: last.operations, of: unsent, on: model, listed, actor) }
  }

  /// What the new transaction takes the place of was chosen over by a policy, or seen by who wrote there, or is listed.
  /// A value that somebody has deleted who had seen it may be there again with a row that others keep; it is not lost.
  private func checkReplaced(
    by operations: [HistoricOperation], of unsent: [HistoricTransaction], on model: MergeModel,
    _ listed: ListedConflicts, _ actor: Actor
  ) throws {
    let unsent = unsent.map { $0.carried(to: actor.version) }
    for operation in operations where model.tables[operation.row] != nil && !listed.held.contains(operation.row) {
      guard let row = model.histories[operation.row] else { continue }
      let values = row.values
      for column in values.indices.dropFirst(row.shape.keyCount) where !row.shape.columns[column].isTally {
        let (value, shape) = (values[column], row.shape.columns[column])
        guard shape.versions.contains(actor.version), value != .null,
          operation.replaces(value, in: column, shape.policy)
        else {
          continue
        }
        let writers = row.writes(of: column).filter { $0.change(of: column) == .value(value) }
        let isSeen = unsent.contains { own in
          own.writes(value, to: operation.row, column)
            || own.touches(operation.row, column) && writers.contains { own.context.covers($0.dot) }
        }
        guard !isSeen, !writers.contains(where: { row.isReplaced($0, column) }),
          !listed.edits.contains(.init(row: operation.row, column: shape.name, value: value))
        else { continue }
        throw SimulationFailure(
          .durability,
          "replica \(actor.index) rejoined over \(shape.name) \(value.text) of \(row.shape.name) "
            + operation.row.key.map(\.text).joined(separator: ", "))
      }
    }
  }

  /// The last value that was written to each cell is in the new transaction, or was in the state file, shown, hidden or
  /// in limbo, or is listed.
  private func checkReplay(
    of unsent: [HistoricTransaction], _ operations: [HistoricOperation], on model: MergeModel,
    _ listed: ListedConflicts, _ actor: Actor
  ) throws {
    var due: [RowName: [Int: Value]] = [:]
    for (written, version) in unsent.flatMap({ transaction in transaction.operations.map { ($0, transaction.version) } }
    ) {
      let operation = written.carried(from: version, to: actor.version)
      let shape = TableShape.all[operation.row.table]
      guard shape.versions.contains(actor.version) else { continue }
      switch operation.kind {
      case .insert(let row):
        // Of what its author had not got an insert says nothing.
        let columns = row.indices.dropFirst(shape.keyCount).filter { shape.columns[$0].versions.contains(version) }
        due[operation.row] = Dictionary(uniqueKeysWithValues: columns.map { ($0, row[$0]) })
      case .update(let changes):
        for case (let column, .value(let value)) in changes { due[operation.row, default: [:]][column] = value }
      case .delete: due[operation.row] = nil
      }
    }
    let made = Dictionary(operations.map { ($0.row, $0) }) { first, _ in first }
    for (name, cells) in due {
      let shape = TableShape.all[name.table]
      let isThere = model.tables[name] != nil || model.limbo[name] != nil
      let held = isThere ? model.histories[name]?.values : nil
      for (column, value) in cells
      where shape.columns[column].policy == .lastWriterWins && shape.columns[column].versions.contains(actor.version) {
        let isMade = made[name].map { $0.writes(value, to: column) } ?? false
        guard !isMade, held?[column] != value,
          !listed.edits.contains(.init(row: name, column: shape.columns[column].name, value: value)),
          !listed.held.contains(name)
        else { continue }
        throw SimulationFailure(
          .durability,
          "replica \(actor.index) rejoined without \(shape.columns[column].name) \(value.text) of \(shape.name) "
            + name.key.map(\.text).joined(separator: ", "))
      }
    }
  }
}

extension HistoricOperation {
  /// An operation as the log has it: what a replica makes anew it cannot be seen to write.
  init?(_ operation: LoggedTransaction.Operation) {
    guard let table = TableShape.numbers[operation.table] else { return nil }
    let shape = TableShape.all[table]
    let row = RowName(table: table, key: operation.key)
    switch operation.kind {
    case .insert:
      var values = operation.key + shape.columns.dropFirst(shape.keyCount).map(\.defaultValue)
      for cell in operation.cells { if let number = shape.number(of: cell.column) { values[number] = cell.value } }
      self.init(row: row, kind: .insert(values))
    case .update:
      var changes: [Int: Change] = [:]
      for cell in operation.cells { if let number = shape.number(of: cell.column) { changes[number] = Change(cell) } }
      self.init(row: row, kind: .update(changes))
    case .delete: self.init(row: row, kind: .delete)
    }
  }

  /// Whether it writes something else there that no policy chooses over the value.
  fileprivate func replaces(_ value: Value, in column: Int, _ policy: TableShape.Policy) -> Bool {
    let new: Value
    switch kind {
    case .insert(let row): new = row[column]
    case .update(let changes):
      guard case .value(let written)? = changes[column] else { return false }
      new = written
    // Of what a policy chooses own work may have chosen another value before.
    case .delete: return policy == .lastWriterWins
    }
    return switch policy {
    case .maximum: new.precedes(value)
    case .minimum: value.precedes(new)
    default: new != value
    }
  }

  fileprivate func writes(_ value: Value, to column: Int) -> Bool {
    switch kind {
    case .insert(let row): row[column] == value
    case .update(let changes): changes[column] == .value(value)
    case .delete: false
    }
  }
}

extension TableShape.ColumnShape {
  /// Whether it adds up what is written to it, or combines it.
  fileprivate var isTally: Bool { [.counter, .set, .longest].contains(policy) }
}

extension HistoricTransaction {
  /// Whether it writes this value there: what takes the place of that has seen the value.
  fileprivate func writes(_ value: Value, to row: RowName, _ column: Int) -> Bool {
    operations.contains { $0.row == row && $0.writes(value, to: column) }
  }

  /// Whether it writes to the column, or deletes the row.
  fileprivate func touches(_ row: RowName, _ column: Int) -> Bool {
    operations.contains { operation in
      guard operation.row == row else { return false }
      return if case .update(let changes) = operation.kind { changes[column] != nil } else { true }
    }
  }
}

extension HistoricOperation.Change {
  fileprivate init(_ cell: LoggedTransaction.Cell) {
    switch (cell.isRelative, cell.value) {
    case (true, .integer(let difference)): self = .sum(difference)
    case (true, .text(let lines)):
      let parts = lines.split(separator: "\n").map { (isAdded: $0.hasPrefix("+"), json: String($0.dropFirst())) }
      func elements(_ isAdded: Bool) -> Set<String> {
        SetText.elements(.text("[\(parts.filter { $0.isAdded == isAdded }.map(\.json).joined(separator: ","))]"))
      }
      self = .elements(added: elements(true), removed: elements(false))
    default: self = .value(cell.value)
    }
  }
}
