import GodwitBase
import GodwitCore

/// Keeps references from dangling (Specs/merge.md, "References"): what a reference's action decides for a parent that
/// is not shown is worked out on every replica alike and written to no log.
final class ReferenceJudge {
  private let places: RowPlaces
  private let unique: UniqueJudge
  private let limbo: LimboJournal
  private var circles: [Int: CircleJudge] = [:]
  /// How children are found in tables without an index on their reference.
  private var scans: [Int: ReferenceScan] = [:]
  /// Rows whose references have to be looked at.
  private var pending: Set<RowKey> = []
  private var departed: Set<RowKey> = []
  /// Folded before the first row state is changed.
  private let localWrites: LocalWrites

  init(_ places: RowPlaces, unique: UniqueJudge, limbo: LimboJournal, _ localWrites: LocalWrites) {
    self.places = places
    self.localWrites = localWrites
    self.unique = unique
    self.limbo = limbo
  }

  func check(_ key: RowKey, in table: MergeTable) {
    if !table.references.isEmpty { pending.insert(key) }
  }

  func check(_ operation: Operation, in table: MergeTable) {
    if !table.references.isEmpty { pending.insert(RowKey(table: table.number, key: operation.key)) }
  }

  func departed(_ key: RowKey, from table: MergeTable) throws {
    guard try !places.tables.references(to: table).isEmpty else { return }
    departed.insert(key)
  }

  /// Judges until nothing changes. First whatever may come back comes back; then what still lacks its parent goes,
  /// and what refers to that. So rows that refer to each other in a circle are shown together.
  func settle() throws {
    circles = [:]
    defer { scans = [:] }
    try releaseLocalRows()
    let moved = places.takeMovements()
    pending.formUnion(moved.arrived)
    departed.formUnion(moved.departed)
    try findCircles()
    try admitWaiting(for: moved.arrived.union(admitClosing()))
    while true {
      try findCircles()
      for key in pending.sorted() { try judge(key) }
      pending = []
      departed.formUnion(places.takeMovements().departed)
      let gone = try departed.filter { try !places.isShown($0) }
      departed = []
      if gone.isEmpty { break }
      try findChildren(of: gone)
    }
    for scan in scans.values { try scan.end() }
  }

  /// Shows the rows in limbo whose reference closes a circle: it is hidden, and they need not wait for the circle's
  /// other rows, which wait for them.
  private func admitClosing() throws -> Set<RowKey> {
    var admitted: Set<RowKey> = []
    for key in pending.sorted() where circles[key.table]?.closes(key) == true {
      if let row = try places.load(key), !row.isShown, try unique.admit(row) { admitted.insert(key) }
    }
    return admitted
  }

  /// Shows the rows in limbo that wait for rows which came, and those that wait for them, as far as their unique
  /// claims allow; shows hidden references again.
  private func admitWaiting(for arrived: Set<RowKey>) throws {
    guard !places.limbo.isEmpty else { return }
    var queue = arrived.sorted()
    var seen = arrived
    while let parent = queue.popLast() {
      for key in try places.limbo.keys(waitingFor: Limbo.Reason(parent: parent)) where seen.insert(key).inserted {
        guard let row = try places.load(key) else { continue }
        pending.insert(key)
        if row.isShown { continue }
        if try unique.admit(row) { queue.append(key) }
      }
    }
  }

  /// Hides a row that lacks a parent, or hides the reference.
  private func judge(_ key: RowKey) throws {
    let table = try places.tables[key.table]
    guard !table.references.isEmpty, let row = try shown(key) else { return }
    let whole = try table.row(key, row.values)
    var hiddenReferences: [Int: Value] = [:]
    var targets: Set<Limbo.Reason> = []
    for reference in table.references {
      if circles[table.number]?.closes(key, column: reference.column) == true {
        hiddenReferences[reference.column] = whole[reference.column]
        targets.insert(Limbo.Reason(circlesOf: reference.column, table: table.number))
        continue
      }
      guard let parent = try places.parent(of: reference, in: whole), try !places.isShown(parent) else { continue }
      if !table.definition.isSynced, try act(reference, on: key, without: parent, in: table) { return }
      guard reference.onDelete == .setNull, table.definition.columns[reference.column].isNullable else {
        try places.park(prepared(row))
        limbo.entered(key, .reference(column: reference.column, parent: parent))
        return
      }
      hiddenReferences[reference.column] = whole[reference.column]
      targets.insert(Limbo.Reason(parent: parent))
    }
    guard try hideReferences(of: row, hiddenReferences, in: table) else { return }
    try places.wait(row, for: targets, hiding: Set(hiddenReferences.keys))
  }

  /// Does to a row that stays on this replica what its reference declares when the parent is dead: what others deleted
  /// may come back to them only by a write, and no log has the local row. While the parent waits in limbo, or forbids
  /// to go, the row waits as one of a synced table does. Says whether the row is done with.
  private func act(
    _ reference: MergeTable.Reference, on key: RowKey, without parent: RowKey, in table: MergeTable
  ) throws -> Bool {
    guard try places.load(parent) == nil else { return false }
    switch reference.onDelete {
    case .cascade:
      try places.takeOut(key)
      try places.states.remove(key)
      try places.release(key)
      unique.forgetClaimants()
    case .setNull where table.definition.columns[reference.column].isNullable:
      try table.rows.update(key.key, [(reference.column, .null)])
      try places.states.remove(key)
      try places.release(key)
      unique.forgetClaimants()
      // Its other references are judged again.
      try judge(key)
    case .setNull, .restrict: return false
    }
    return true
  }

  /// Has those of a table's rows judged whose parents are not in their tables, or which may stand on a circle. Linear
  /// in the table.
  func checkRows(of table: MergeTable) throws {
    for reference in table.references {
      try table.rows.forEachKey(andColumn: reference.column) { key, value in
        guard let parent = try places.parent(of: reference, is: value) else { return }
        guard try reference.isAcyclic || !places.isShown(parent) else { return }
        pending.insert(RowKey(table: table.number, key: key[...]))
      }
    }
  }

  /// Has all rows that stay on this replica judged whose parents are not in their tables, or have come back: a state
  /// file has put other rows in place of those that were there.
  func checkLocalRows() throws {
    let local = places.tables.catalog.tables.filter { !$0.definition.isSynced }
    for table in local { try checkRows(of: places.tables[table.id]) }
    for key in try local.flatMap({ try places.limbo.keys(of: $0.id) }) {
      for reference in try places.tables[key.table].references {
        guard let row = try places.load(key) else { continue }
        let whole = try places.tables[key.table].row(key, row.values)
        guard let parent = try places.parent(of: reference, in: whole), try places.isShown(parent) else { continue }
        try places.noteArrival(parent)
      }
    }
  }

  /// Has local rows that are gone wait for nothing: no log says that they are.
  private func releaseLocalRows() throws {
    guard !places.limbo.isEmpty else { return }
    for table in places.tables.catalog.tables where !table.definition.isSynced {
      for key in try places.limbo.keys(of: table.id) where try places.load(key) == nil {
        try places.states.remove(key)
        try places.release(key)
      }
    }
  }

  /// A row of the table. One that a fast forward put there may have the state of a row that was deleted before.
  private func shown(_ key: RowKey) throws -> LivingRow? {
    var row = try places.load(key)
    if row?.isShown != true, !localWrites.areFolded, try places.isShown(key) {
      try localWrites.fold()
      row = try places.load(key)
    }
    let isLocal = try !places.tables[key.table].definition.isSynced
    if isLocal, row?.isShown == true, try places.states.load(key)?.hiddenCells != nil {
      try places.states.remove(key)
    }
    return row?.isShown == true ? row : nil
  }

  private func prepared(_ row: LivingRow) throws -> LivingRow {
    guard !localWrites.areFolded else { return row }
    try localWrites.fold()
    return try places.load(row.key) ?? row
  }

  /// False where the row went into limbo, for a constraint of this replica's own refuses what it shows then.
  private func hideReferences(
    of row: LivingRow, _ hiddenReferences: [Int: Value], in table: MergeTable
  ) throws -> Bool {
    guard hiddenReferences != row.state.hiddenReferences else { return true }
    let row = try prepared(row)
    var state = row.state
    let changed = Set(hiddenReferences.keys).union(state.hiddenReferences.keys).sorted()
    let keyCount = table.definition.keyCount
    do {
      try table.rows.update(
        row.key.key, changed.map { ($0, hiddenReferences[$0] == nil ? row.values[$0 - keyCount] : .null) })
    } catch let error as GodwitError where error.code == .constraint {
      try places.park(row)
      limbo.entered(row.key, .constraint)
      return false
    }
    for column in changed where state.hiddenReferences[column] == nil { limbo.hidReference(row, column: column) }
    state.hiddenReferences = hiddenReferences
    try places.states.save(state, for: row.key)
    return true
  }

  /// Looks for circles through the rows at hand, and has all judged whose part in one began or ended: a row that is
  /// gone ends one.
  private func findCircles() throws {
    for number in Set(pending.map(\.table)).union(departed.map(\.table)) {
      let table = try places.tables[number]
      guard table.hasAcyclicReferences else { continue }
      // What a fast forward put there may have the state of a row that was deleted before.
      if !localWrites.areFolded, try places.states.haveAny(of: number) { try localWrites.fold() }
      let judge = circles[number] ?? CircleJudge(table, places)
      circles[number] = judge
      pending.formUnion(try judge.update(through: pending.filter { $0.table == number }))
    }
  }

  /// The rows that refer to rows which are gone.
  private func findChildren(of gone: Set<RowKey>) throws {
    for (number, keys) in Dictionary(grouping: gone, by: \.table) {
      let parent = try places.tables[number]
      for (table, reference) in try places.tables.references(to: parent) {
        let values = Set(
          try keys.map { key in
            var reader = ByteReader(key.key)
            return try reader.value()
          })
        let place = table.number << 16 + reference.column
        let scan = scans[place] ?? ReferenceScan(table, reference)
        scans[place] = scan
        for key in try scan.children(of: values) { pending.insert(RowKey(table: table.number, key: key[...])) }
      }
    }
  }
}
