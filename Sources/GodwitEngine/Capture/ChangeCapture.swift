import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// Collects the changes of the running transaction in memory, as encoded operations.
///
/// The triggers of ``CaptureTriggers`` append; the storage layer takes back what a failed statement or a rolled
/// back savepoint had appended. Beside the operations stand the old values, which only the net effect of several
/// writes to one row and the cells of a deleted row need.
package final class ChangeCapture: ChangeJournal {
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
    /// By column number.
    var columns: [Bool]
  }

  /// Behind a pointer, because every access to a property of a class pays for a check of exclusive access, and rows
  /// make several each; a capture serves one thread.
  fileprivate let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

  fileprivate struct State {
    /// Both by table number: what the table is, and where it stands in `uses`, or -1.
    var tables: [CatalogTable?] = []
    var useNumbers: [Int] = []
    var uses: [Use] = []
    var entries: [Entry] = []
    var operations = ByteWriter(capacity: 1 << 16)
    var oldValues = ByteWriter(capacity: 1 << 12)
    var changeSet = ByteWriter(capacity: 1 << 12)
    /// Whether a REAL came as a part of a key.
    var hasRealKeys = false
  }

  /// Works on the operations while they grow.
  let worker = PieceWorker()
  /// Up to where the operations have been handed to the worker.
  private var handedOver = 0

  init() { state.initialize(to: State()) }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  func withChangeSet(_ body: (inout ByteWriter) -> [UInt8]) -> [UInt8] { body(&state.pointee.changeSet) }

  /// Lends the operations and the old values.
  func withRaw(_ body: (_ operations: UnsafeRawBufferPointer, _ old: UnsafeRawBufferPointer) -> Void) {
    let (count, oldCount) = (state.pointee.operations.count, state.pointee.oldValues.count)
    state.pointee.operations.withBytes(0..<count) { operations in
      state.pointee.oldValues.withBytes(0..<oldCount) { body(operations, $0) }
    }
  }

  var uses: [Use] { state.pointee.uses }
  var hasRealKeys: Bool { state.pointee.hasRealKeys }
  var entries: [Entry] { state.pointee.entries }
  var operations: ByteWriter { state.pointee.operations }
  var oldValues: ByteWriter { state.pointee.oldValues }
  /// Why the transaction cannot be logged; it must not commit then.
  private(set) var failure: GodwitError?

  func setCatalog(_ catalog: Catalog) {
    let count = (catalog.synced.map(\.id).max() ?? 0) + 1
    state.pointee.tables = Array(repeating: nil, count: count)
    state.pointee.useNumbers = Array(repeating: -1, count: count)
    for table in catalog.synced { state.pointee.tables[table.id] = table }
  }

  /// Takes a table as it has become, also while a transaction runs: its writes from now on are captured as those of
  /// another table, and are brought together at the commit.
  func replace(_ table: CatalogTable?, numbered number: Int) {
    while state.pointee.tables.count <= number {
      state.pointee.tables.append(nil)
      state.pointee.useNumbers.append(-1)
    }
    state.pointee.tables[number] = table
    state.pointee.useNumbers[number] = -1
  }

  func removeAll() {
    for use in uses { state.pointee.useNumbers[use.table.id] = -1 }
    state.pointee.uses.removeAll(keepingCapacity: true)
    state.pointee.operations.removeAll()
    worker.removeAll()
    handedOver = 0
    state.pointee.oldValues.removeAll()
    state.pointee.entries.removeAll(keepingCapacity: true)
    state.pointee.hasRealKeys = false
    failure = nil
  }

  // MARK: ChangeJournal

  package func mark() -> Int { state.pointee.entries.count }

  package func rewind(to mark: Int) {
    guard mark < entries.count else { return }
    let first = entries[mark]
    state.pointee.operations.truncate(to: first.operation)
    worker.truncate(to: first.operation)
    handedOver = worker.end
    state.pointee.oldValues.truncate(to: first.old)
    state.pointee.entries.removeLast(entries.count - mark)
    while let last = uses.last, last.firstEntry >= mark {
      state.pointee.useNumbers[last.table.id] = -1
      state.pointee.uses.removeLast()
    }
  }

  // MARK: Triggers

  /// Arguments: table, number of the first column, values from there on.
  func insert(_ arguments: borrowing FunctionArguments) throws {
    let first = arguments.integer(1)
    let use = first == 0 ? try begin(.insert, table: arguments.integer(0)) : try use(of: arguments.integer(0))
    for index in 2..<arguments.count { try arguments.write(index, to: &state.pointee.operations) }
    for index in 2..<arguments.count where arguments.isReal(index) {
      let column = first + index - 2
      if column < uses[use].table.definition.keyCount { state.pointee.hasRealKeys = true }
      if arguments.isBeyondIntegers(index) { try refuseBeyondIntegers(column: column, use) }
    }
  }

  /// Arguments as for ``insert(_:)``, with the old values.
  func delete(_ arguments: borrowing FunctionArguments) throws {
    let first = arguments.integer(1)
    let use = first == 0 ? try begin(.delete, table: arguments.integer(0)) : try use(of: arguments.integer(0))
    let keyCount = uses[use].table.definition.keyCount
    for index in 2..<arguments.count {
      if first + index - 2 < keyCount {
        try arguments.write(index, to: &state.pointee.operations)
      } else {
        try arguments.write(index, to: &state.pointee.oldValues)
      }
    }
  }

  /// Arguments: table, number of the first column, old and new key, then old and new value of each column.
  /// Under another key nothing is to be done: the trigger on the key reports the whole row.
  func update(_ arguments: borrowing FunctionArguments) throws {
    let table = arguments.integer(0)
    let definition = try self.table(table).definition
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
    for index in 2 + keyCount..<firstPair { try arguments.write(index, to: &state.pointee.operations) }
    state.pointee.operations.varint(changed)
    for pair in stride(from: firstPair, to: arguments.count, by: 2) where !arguments.isIdentical(pair, pair + 1) {
      let column = firstColumn + (pair - firstPair) / 2
      state.pointee.operations.varint(column)
      if arguments.isBeyondIntegers(pair + 1) { try refuseBeyondIntegers(column: column, use) }
      try arguments.write(pair + 1, to: &state.pointee.operations)
      try arguments.write(pair, to: &state.pointee.oldValues)
      state.pointee.uses[use].columns[column] = true
    }
  }

  /// No integer column is ever read again that holds a REAL beyond 64 bits. The row's key has been written.
  private func refuseBeyondIntegers(column: Int, _ use: Int) throws {
    let definition = uses[use].table.definition
    guard definition.columns[column].type == .integer, let entry = entries.last else { return }
    var reader = ByteReader(operations.bytes[entry.operation...])
    _ = try reader.varint()
    throw GodwitError.integerOverflow(
      of: definition.columns[column].name, table: definition.name,
      key: try (0..<definition.keyCount).map { _ in try reader.value() }.described)
  }

  @discardableResult
  private func begin(_ kind: OperationKind, table: Int) throws -> Int {
    let use = try use(of: table)
    while state.pointee.operations.count - handedOver >= PieceWorker.pieceSize { handOver() }
    state.pointee.begin(kind, use: use)
    return use
  }

  private func handOver() {
    let end = handedOver + PieceWorker.pieceSize
    state.pointee.operations.withBytes(handedOver..<end) { worker.add($0) }
    handedOver = end
  }

  private func use(of table: Int) throws -> Int {
    if let known = state.pointee.knownUse(of: table) { return known }
    return state.pointee.addUse(of: try self.table(table), number: table)
  }

  private func table(_ number: Int) throws -> CatalogTable {
    if state.pointee.tables.indices.contains(number), let table = state.pointee.tables[number] { return table }
    let table = number
    let error = GodwitError(.damagedLog, "a trigger reports table \(table), which the catalog does not have")
    failure = error
    throw error
  }
}

fileprivate extension ChangeCapture.State {
  func knownUse(of table: Int) -> Int? {
    guard useNumbers.indices.contains(table), useNumbers[table] >= 0 else { return nil }
    return useNumbers[table]
  }

  mutating func addUse(of entry: CatalogTable, number: Int) -> Int {
    useNumbers[number] = uses.count
    let columns = Array(repeating: false, count: entry.definition.columns.count)
    uses.append(ChangeCapture.Use(table: entry, firstEntry: entries.count, usesAll: false, columns: columns))
    return uses.count - 1
  }

  mutating func begin(_ kind: OperationKind, use: Int) {
    if kind == .insert { uses[use].usesAll = true }
    entries.append(ChangeCapture.Entry(operation: operations.count, old: oldValues.count, table: use, kind: kind))
    operations.varint(Operation.head(table: use, kind: kind))
  }
}

extension ChangeCapture: InsertCapture {
  package func table(_ name: String) -> CapturedTable {
    let name = name.lowercased()
    return state.pointee.tables.firstIndex { $0?.definition.name.lowercased() == name }.map { .direct($0) } ?? .none
  }

  package func columns(of table: Int) -> [String] {
    state.pointee.tables[table]?.definition.columns.map(\.name) ?? []
  }

  package func insert(
    table: Int, encode: (UnsafeMutablePointer<ByteWriter>) throws -> Void,
    store: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let mark = mark()
    try begin(.insert, table: table)
    let start = state.pointee.operations.count
    do {
      try withUnsafeMutablePointer(to: &state.pointee.operations) { try encode($0) }
      try keepForm(of: table, from: start)
      try state.pointee.operations.withBytes(start..<state.pointee.operations.count, store)
    } catch {
      rewind(to: mark)
      throw error
    }
  }
}

extension ChangeCapture {
  /// Brings the row at the end of the operations into the form that its table keeps, as a trigger would find it.
  private func keepForm(of table: Int, from start: Int) throws {
    let entry = try self.table(table)
    let end = state.pointee.operations.count
    let needsLook = state.pointee.operations.withBytes(start..<end) { EncodedRow.needsLook(entry.convertibleTags, $0) }
    guard needsLook else { return }
    // A slice would keep the whole buffer, which is changed below.
    let row = Array(state.pointee.operations.bytes[start...])
    guard try entry.definition.mayConvert(row[...]) else { return }
    var reader = ByteReader(row)
    var stored = ByteWriter(capacity: row.count)
    for column in entry.definition.columns.indices {
      stored.value(entry.definition.stored(try reader.value(), in: column))
    }
    state.pointee.operations.truncate(to: start)
    state.pointee.operations.raw(stored.bytes[...])
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
