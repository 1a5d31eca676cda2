import GodwitBase
import GodwitReplication
import GodwitStorage

/// Collects the changes of the running transaction in memory, as encoded operations.
///
/// The triggers of ``CaptureTriggers`` append; the storage layer takes back what a failed statement or a rolled
/// back savepoint had appended. Beside the operations stand the old values, which only the net effect of several
/// writes to one row and the image of a deleted row need.
final class ChangeCapture: ChangeJournal {
  struct Entry {
    let operation: Int
    let old: Int
    let table: Int
    let kind: OperationKind
  }

  /// A table of this transaction: its number in the catalog, and the columns that operations use.
  struct Use {
    let table: CatalogTable
    let firstEntry: Int
    var usesAll: Bool
    var columns: Set<Int>
  }

  private var tables: [Int: CatalogTable] = [:]
  private(set) var uses: [Use] = []
  private var useNumbers: [Int: Int] = [:]
  private(set) var operations = ByteWriter(capacity: 1 << 16)
  private(set) var oldValues = ByteWriter(capacity: 1 << 12)
  private(set) var entries: [Entry] = []
  /// Why the transaction cannot be logged; it must not commit then.
  private(set) var failure: GodwitError?

  func setCatalog(_ catalog: Catalog) {
    tables = Dictionary(uniqueKeysWithValues: catalog.synced.map { ($0.id, $0) })
  }

  var isEmpty: Bool { entries.isEmpty }

  func removeAll() {
    uses.removeAll(keepingCapacity: true)
    useNumbers.removeAll(keepingCapacity: true)
    operations.removeAll()
    oldValues.removeAll()
    entries.removeAll(keepingCapacity: true)
    failure = nil
  }

  // MARK: ChangeJournal

  func mark() -> Int { entries.count }

  func rewind(to mark: Int) {
    guard mark < entries.count else { return }
    operations.truncate(to: entries[mark].operation)
    oldValues.truncate(to: entries[mark].old)
    entries.removeLast(entries.count - mark)
    while let last = uses.last, last.firstEntry >= mark {
      useNumbers[last.table.id] = nil
      uses.removeLast()
    }
  }

  // MARK: Triggers

  /// Arguments: table, number of the first column, values from there on.
  func insert(_ arguments: borrowing FunctionArguments) throws {
    if arguments.integer(1) == 0 { try begin(.insert, table: arguments.integer(0)) }
    for index in 2..<arguments.count { arguments.write(index, to: &operations) }
  }

  /// Arguments as for ``insert(_:)``, with the old values.
  func delete(_ arguments: borrowing FunctionArguments) throws {
    let first = arguments.integer(1)
    let use = first == 0 ? try begin(.delete, table: arguments.integer(0)) : try use(of: arguments.integer(0))
    let keyCount = uses[use].table.definition.keyCount
    for index in 2..<arguments.count {
      if first + index - 2 < keyCount {
        arguments.write(index, to: &operations)
      } else {
        arguments.write(index, to: &oldValues)
      }
    }
  }

  /// Arguments: table, number of the first column, old and new key, then old and new value of each column.
  /// Under another key nothing is to be done: the trigger on the key reports the whole row.
  func update(_ arguments: borrowing FunctionArguments) throws {
    let table = arguments.integer(0)
    guard let definition = tables[table]?.definition else { throw unknown(table) }
    let firstColumn = arguments.integer(1)
    let keyCount = definition.keyCount
    for index in 2..<2 + keyCount where !arguments.isIdentical(index, index + keyCount) { return }
    let firstPair = 2 + 2 * keyCount
    var changed = 0
    for pair in stride(from: firstPair, to: arguments.count, by: 2) where !arguments.isIdentical(pair, pair + 1) {
      changed += 1
    }
    guard changed > 0 else { return }
    let use = try begin(.update, table: table)
    for index in 2 + keyCount..<firstPair { arguments.write(index, to: &operations) }
    operations.varint(changed)
    for pair in stride(from: firstPair, to: arguments.count, by: 2) where !arguments.isIdentical(pair, pair + 1) {
      let column = firstColumn + (pair - firstPair) / 2
      operations.varint(column)
      arguments.write(pair + 1, to: &operations)
      arguments.write(pair, to: &oldValues)
      if !uses[use].usesAll { uses[use].columns.insert(column) }
    }
  }

  @discardableResult
  private func begin(_ kind: OperationKind, table: Int) throws -> Int {
    let use = try use(of: table)
    if kind == .insert { uses[use].usesAll = true }
    entries.append(Entry(operation: operations.count, old: oldValues.count, table: use, kind: kind))
    operations.varint(Operation.head(table: use, kind: kind))
    return use
  }

  private func use(of table: Int) throws -> Int {
    if let number = useNumbers[table] { return number }
    guard let definition = tables[table] else { throw unknown(table) }
    useNumbers[table] = uses.count
    uses.append(Use(table: definition, firstEntry: entries.count, usesAll: false, columns: []))
    return uses.count - 1
  }

  private func unknown(_ table: Int) -> GodwitError {
    let error = GodwitError(.damagedLog, "a trigger reports table \(table), which the catalog does not have")
    failure = error
    return error
  }
}

/// One of the functions the triggers call.
final class CaptureFunction: SQLFunction {
  private let capture: ChangeCapture
  private let kind: OperationKind

  init(_ capture: ChangeCapture, _ kind: OperationKind) {
    self.capture = capture
    self.kind = kind
  }

  func call(_ arguments: borrowing FunctionArguments) throws {
    switch kind {
    case .insert: try capture.insert(arguments)
    case .update: try capture.update(arguments)
    case .delete: try capture.delete(arguments)
    }
  }

  static func register(_ capture: ChangeCapture, on connection: Connection) throws {
    try connection.register(CaptureFunction(capture, .insert), as: CaptureTriggers.insertFunction)
    try connection.register(CaptureFunction(capture, .update), as: CaptureTriggers.updateFunction)
    try connection.register(CaptureFunction(capture, .delete), as: CaptureTriggers.deleteFunction)
    connection.journal = capture
  }
}
