import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// What is remembered of rows, read without writing anything.
package struct RowHistory {
  let connection: Connection
  let log: ChangeLog
  package let tables: MergeTables
  let places: RowPlaces
  let fold: LogFold
  private let unique: UniqueJudge

  /// What the program's own functions merge is never merged here, so none of them is needed.
  init(_ connection: Connection, log: ChangeLog, catalog: Catalog) throws {
    self.connection = connection
    self.log = log
    tables = MergeTables(connection, catalog: catalog, functions: [])
    places = try RowPlaces(connection, tables: tables, origins: log.origins)
    unique = UniqueJudge(places, limbo: LimboJournal())
    fold = LogFold(
      connection: connection, log: log, tables: tables, states: places.states,
      adapter: SchemaAdapter(connection, catalog))
  }

  package init(_ connection: Connection) throws {
    try self.init(connection, log: ChangeLog(connection), catalog: Catalog(connection))
  }

  /// The rows that are held back, in the order of table and key.
  package func limbo(limit: Int) throws -> [LimboRow] { try places.limbo.keys(limit: limit).compactMap(limboRow) }

  /// Why the row is held back; nil when it is not.
  func limboRow(_ key: RowKey) throws -> LimboRow? {
    guard try !places.limbo.reasons(of: key).isEmpty, let row = try places.load(key) else { return nil }
    let table = try tables[key.table]
    let columns = table.definition.columns.map(\.name)
    let hidden = row.state.hiddenReferences.keys.sorted()
    var reasons = row.isShown ? [] : try claimReasons(row, table)
    for reference in table.references {
      guard let reason = try referenceReason(row, reference, table) else { continue }
      reasons.append(reason)
    }
    if reasons.isEmpty, !row.isShown {
      let author = ([row.state.base].compactMap { $0 } + row.state.overrides.values).max()
      reasons = [LimboRow.Reason(kind: .constraint, author: author.map { Authorship($0) })]
    }
    guard !reasons.isEmpty else { return nil }
    return LimboRow(
      table: table.definition.name, key: try [Value](encoded: key.key),
      values: Row(columns: Array(columns.dropFirst(table.definition.keyCount)), values: row.values),
      isShown: row.isShown, hiddenReferences: hidden.map { columns[$0] }, reasons: reasons)
  }

  private func claimReasons(_ row: LivingRow, _ table: MergeTable) throws -> [LimboRow.Reason] {
    try places.claims(of: row).compactMap { claim in
      guard let holder = try unique.leastClaimant(of: claim), holder != row.key else { return nil }
      let (_, name, values) = try claim.claim()
      let numbers = table.uniqueIndexes.first { $0.name == name }?.columns ?? []
      let stamp = numbers.filter { $0 >= table.definition.keyCount }.compactMap { row.state.stamp(of: $0) }.max()
      return LimboRow.Reason(
        kind: .uniqueValue(
          columns: numbers.map { table.definition.columns[$0].name }, values: values,
          holder: try [Value](encoded: holder.key)),
        author: stamp.map { Authorship($0) })
    }
  }

  private func referenceReason(
    _ row: LivingRow, _ reference: MergeTable.Reference, _ table: MergeTable
  ) throws -> LimboRow.Reason? {
    let whole = try table.row(row.key, row.values)
    guard let parent = try places.parent(of: reference, in: whole) else { return nil }
    let name = table.definition.columns[reference.column].name
    let author = reference.column < table.definition.keyCount ? nil : row.state.stamp(of: reference.column)
    let kind: LimboRow.Kind
    if try !places.isShown(parent) {
      kind = .missingParent(column: name, table: reference.target, key: whole[reference.column])
    } else if row.state.hiddenReferences[reference.column] != nil {
      kind = .circle(column: name)
    } else {
      return nil
    }
    return LimboRow.Reason(kind: kind, author: author.map { Authorship($0) })
  }

  /// Who wrote a transaction, and when as far as the log still says.
  func author(_ dot: Dot) throws -> Authorship {
    let key = LogKey(origin: try log.origins.number(of: dot.origin), dot.sequence)
    return Authorship(dot, try ChangeLog.time(of: key, on: connection))
  }

  func authors(_ vector: VersionVector) throws -> [Authorship] {
    try vector.origins.map { try author(Dot($0, vector[$0])) }
  }
}
