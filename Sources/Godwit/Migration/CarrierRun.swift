import GodwitBase
import GodwitReplication

/// The change set that a carried transaction becomes while its operations are gone through, and what of it waits.
struct CarrierRun {
  let changes: ChangeSet
  let landings: [ColumnLandings]
  private(set) var waiting = WaitingOperations()
  private(set) var unknown: Set<String> = []
  /// Whether every row that is brought has the values which it needs.
  var isComplete = true
  private var tables: [Entry: Int] = [:]
  private var dictionary: [ChangeSet.Table] = []
  private var operations = ByteWriter(capacity: 1 << 10)
  private var count = 0

  /// An insert writes every column of its entry, so each set of columns is an entry of its own.
  private struct Entry: Hashable {
    let table: Int
    let columns: [Int]
  }

  init(changes: ChangeSet, landings: [ColumnLandings]) {
    self.changes = changes
    self.landings = landings
  }

  /// The encoded change set, or nil when nothing can be applied.
  var changeSet: [UInt8]? {
    guard count > 0 else { return nil }
    var writer = ByteWriter(capacity: operations.count + 256)
    ChangeSet.writeHeader(tables: dictionary, operationCount: count, to: &writer)
    writer.raw(operations.bytes)
    return writer.bytes
  }

  mutating func wait(_ operation: Int, for what: String) {
    waiting.add(operation)
    unknown.insert(what)
  }

  mutating func wait(_ operation: Int, column: Int, for what: String) {
    waiting.add(operation, column: column)
    unknown.insert(what)
  }

  /// Writes the operation with values by this replica's column numbers.
  mutating func append(_ operation: Operation, to table: CatalogTable, _ values: [Int: Value]) {
    let cells = values.sorted { $0.key < $1.key }
    let keyCount = table.definition.keyCount
    let all = Array(table.definition.columns.indices.dropFirst(keyCount))
    let entry = entry(table, operation.kind == .insert ? cells.map(\.key) : all)
    operations.varint(Operation.head(table: entry, kind: operation.kind))
    operations.raw(operation.key)
    switch operation.kind {
    case .insert: for cell in cells { operations.value(cell.value) }
    case .update:
      operations.varint(cells.count)
      for cell in cells {
        operations.varint(cell.key)
        operations.value(cell.value)
      }
    case .delete: break
    }
    count += 1
  }

  private mutating func entry(_ table: CatalogTable, _ columns: [Int]) -> Int {
    let entry = Entry(table: table.id, columns: columns)
    if let number = tables[entry] { return number }
    let definition = table.definition
    let numbers = Array(0..<definition.keyCount) + columns
    dictionary.append(
      ChangeSet.Table(
        name: definition.name, columnCount: numbers.count, keyCount: definition.keyCount,
        columns: numbers.enumerated().map { index, number in
          let column = definition.columns[number]
          return ChangeSet.Column(index: index, name: column.name, isRelative: column.merge.isRelative)
        }))
    tables[entry] = dictionary.count - 1
    return dictionary.count - 1
  }
}
