import Godwit
import GodwitBase
import GodwitCore

/// What a replica's conflict log lists.
struct ListedConflicts {
  struct Edit: Hashable {
    let row: RowName
    let column: String
    let value: Value
  }

  private(set) var edits: Set<Edit> = []
  /// Cells listed with whatever value.
  private(set) var columns: [RowName: Set<String>] = [:]
  private(set) var deletes: [RowName: Set<Dot>] = [:]
  /// Rows listed because they waited in limbo or had a hidden reference.
  private(set) var held: Set<RowName> = []

  init(reading replica: Replica) async throws {
    let rows = try await replica.rows(
      """
      SELECT c.kind, t.name, c.key, c.column_name, coalesce(v.content, c.value), o.replica, o.incarnation,
        c.loser_sequence
      FROM godwit_conflict c JOIN godwit_table t ON t.id = c.table_id LEFT JOIN godwit_origin o ON o.id = c.loser_origin
        LEFT JOIN godwit_conflict_value v ON typeof(c.value) = 'integer' AND v.id = c.value
      """)
    for row in rows.map(\.values) { try add(row) }
  }

  private mutating func add(_ row: [Value]) throws {
    guard case .integer(let number) = row[0], case .text(let table) = row[1], case .blob(let key) = row[2],
      case .blob(let encoded) = row[4], let kind = Conflict.Kind(rawValue: Int(number)),
      let place = TableShape.numbers[table]
    else { return }
    var reader = ByteReader(key)
    var values: [Value] = []
    while !reader.isAtEnd { values.append(try reader.value()) }
    let name = RowName(table: place, key: values)
    switch kind {
    case .edit:
      guard case .text(let text) = row[3], let number = TableShape.all[place].number(of: text) else { return }
      let column = TableShape.all[place].columns[number].name
      var reader = ByteReader(encoded)
      columns[name, default: []].insert(column)
      edits.insert(Edit(row: name, column: column, value: try reader.value()))
    case .delete:
      guard case .blob(let replica) = row[5], case .integer(let incarnation) = row[6],
        case .integer(let sequence) = row[7]
      else { return }
      var reader = ByteReader(replica)
      let origin = Origin(
        replica: ReplicaID(try Identifier128(reading: &reader)), incarnation: UInt32(truncatingIfNeeded: incarnation))
      deletes[name, default: []].insert(Dot(origin, SequenceNumber(rawValue: UInt64(sequence))))
    case .unique, .reference, .constraint: held.insert(name)
    }
  }
}

extension RowHistory {
  /// Whether somebody who saw the value wrote another, or deleted the row. Equal values are one: who saw either of two
  /// writes of it saw the value.
  func isReplaced(_ write: Write, _ column: Int) -> Bool {
    let change = write.change(of: column)
    let same = writes(of: column).filter { $0.change(of: column) == change }
    return writes.contains { later in
      (later.isDelete || later.change(of: column).map { $0 != change } == true) && same.contains { later.saw($0) }
    }
  }
}

extension RowHistory.Write {
  /// Whether it keeps the row over a delete that had not seen it, and that it had not seen.
  fileprivate func outlives(_ delete: Self) -> Bool { !saw(delete) && !delete.saw(self) }
}

extension HistoricOperation.Change {
  fileprivate var onlyRemoves: Bool {
    switch self {
    case .elements(let added, _): added.isEmpty
    case .value(let value): value == "[]"
    case .sum: false
    }
  }
}

extension World {
  /// Nothing is silently lost: every write that lost to one it had not seen is listed, with its value.
  func checkConflicts(_ actor: Actor, _ model: MergeModel) async throws {
    let listed = try await ListedConflicts(reading: actor.replica)
    for history in model.histories.values {
      try checkEdits(history, listed, actor)
      try checkDeletes(history, listed, actor)
    }
    for name in Set(model.limbo.keys).union(model.hiddenReferences.keys) where !listed.held.contains(name) {
      let what = model.limbo[name] == nil ? "a hidden reference" : "the row in limbo"
      throw SimulationFailure(.conflict, "replica \(actor.index) does not list \(what) \(text(name))")
    }
  }

  /// A write that nobody saw and overwrote, and whose value is not there.
  private func checkEdits(_ history: RowHistory, _ listed: ListedConflicts, _ actor: Actor) throws {
    let shape = history.shape
    for column in shape.columns.indices.dropFirst(shape.keyCount)
    where shape.listsAll(of: column, through: latestVersion) {
      guard shape.columns[column].policy == .lastWriterWins, let last = history.last(column) else { continue }
      for write in history.writes(of: column) where write.dot != last.dot && !isHostile(write.dot.origin.replica) {
        guard case .value(let value)? = write.change(of: column), last.change(of: column) != .value(value),
          !history.isReplaced(write, column)
        else { continue }
        try expect(value, column, history, listed, actor)
      }
    }
    if shape.isDeleteWins, !history.isAlive { try checkLostToDeletes(history, listed, actor) }
  }

  /// Where deletes win, a write that they had not seen is lost with all its cells.
  private func checkLostToDeletes(_ history: RowHistory, _ listed: ListedConflicts, _ actor: Actor) throws {
    let shape = history.shape
    for write in history.touches
    where !isHostile(write.dot.origin.replica) && history.deletes.contains(where: { !$0.saw(write) && !write.saw($0) })
    {
      for column in shape.columns.indices.dropFirst(shape.keyCount)
      where shape.listsAll(of: column, through: latestVersion) && !history.isReplaced(write, column) {
        // To have taken something out of a row that is gone is no loss.
        guard let change = write.change(of: column), !change.onlyRemoves else { continue }
        if shape.columns[column].policy == .lastWriterWins, case .value(let value) = change {
          try expect(value, column, history, listed, actor)
        } else if listed.columns[history.name]?.contains(shape.columns[column].name) != true {
          throw SimulationFailure(
            .conflict,
            "replica \(actor.index) does not list the lost \(shape.columns[column].name) of \(text(history.name))")
        }
      }
    }
  }

  private func expect(
    _ value: Value, _ column: Int, _ history: RowHistory, _ listed: ListedConflicts, _ actor: Actor
  ) throws {
    let name = history.shape.columns[column].name
    guard !listed.edits.contains(.init(row: history.name, column: name, value: value)) else { return }
    throw SimulationFailure(
      .conflict,
      "replica \(actor.index) does not list the lost write of \(value.text) to \(name) of \(text(history.name)), of: "
        + history.writes.map(\.text).joined(separator: "; "))
  }

  /// A delete that an unseen write outlived.
  private func checkDeletes(_ history: RowHistory, _ listed: ListedConflicts, _ actor: Actor) throws {
    guard !history.shape.isDeleteWins else { return }
    for delete in history.writes
    where delete.isDelete && !isHostile(delete.dot.origin.replica)
      && listed.deletes[history.name]?.contains(delete.dot) != true
    {
      guard let winner = history.touches.first(where: { $0.outlives(delete) }) else { continue }
      throw SimulationFailure(
        .conflict,
        "replica \(actor.index) does not list the lost delete of \(text(history.name)), \(delete.dot), which \(winner.dot) outlived"
      )
    }
  }

  private func text(_ name: RowName) -> String {
    "\(TableShape.all[name.table].name) \(name.key.map(\.text).joined(separator: "/"))"
  }
}
