import GodwitBase
import GodwitModel
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
    /// By column number.
    var columns: [Bool]
  }

  /// Both by table number: what the table is, and where it stands in `uses`, if it does.
  private var tables: [CatalogTable?] = []
  private var useNumbers: [Int?] = []
  private(set) var uses: [Use] = []
  private(set) var entries: [Entry] = []
  /// The encoded bytes. Behind a pointer, because every value appended to a property of a class pays for a check of
  /// exclusive access; a capture serves one thread.
  private let buffers = UnsafeMutablePointer<Buffers>.allocate(capacity: 1)

  private struct Buffers {
    var operations = ByteWriter(capacity: 1 << 16)
    var oldValues = ByteWriter(capacity: 1 << 12)
    var changeSet = ByteWriter(capacity: 1 << 12)
  }

  /// Works on the operations while they grow.
  let compressor = PieceCompressor()

  init() { buffers.initialize(to: Buffers()) }

  deinit {
    buffers.deinitialize(count: 1)
    buffers.deallocate()
  }

  func withChangeSet(_ body: (inout ByteWriter) -> [UInt8]) -> [UInt8] { body(&buffers.pointee.changeSet) }

  var operations: ByteWriter { buffers.pointee.operations }
  var oldValues: ByteWriter { buffers.pointee.oldValues }
  /// Why the transaction cannot be logged; it must not commit then.
  private(set) var failure: GodwitError?

  func setCatalog(_ catalog: Catalog) {
    let count = (catalog.synced.map(\.id).max() ?? 0) + 1
    tables = Array(repeating: nil, count: count)
    useNumbers = Array(repeating: nil, count: count)
    for table in catalog.synced { tables[table.id] = table }
  }

  var isEmpty: Bool { entries.isEmpty }

  func removeAll() {
    for use in uses { useNumbers[use.table.id] = nil }
    uses.removeAll(keepingCapacity: true)
    buffers.pointee.operations.removeAll()
    compressor.removeAll()
    buffers.pointee.oldValues.removeAll()
    entries.removeAll(keepingCapacity: true)
    failure = nil
  }

  // MARK: ChangeJournal

  func mark() -> Int { entries.count }

  func rewind(to mark: Int) {
    guard mark < entries.count else { return }
    buffers.pointee.operations.truncate(to: entries[mark].operation)
    compressor.truncate(to: entries[mark].operation)
    buffers.pointee.oldValues.truncate(to: entries[mark].old)
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
    for index in 2..<arguments.count { try arguments.write(index, to: &buffers.pointee.operations) }
  }

  /// Arguments as for ``insert(_:)``, with the old values.
  func delete(_ arguments: borrowing FunctionArguments) throws {
    let first = arguments.integer(1)
    let use = first == 0 ? try begin(.delete, table: arguments.integer(0)) : try use(of: arguments.integer(0))
    let keyCount = uses[use].table.definition.keyCount
    for index in 2..<arguments.count {
      if first + index - 2 < keyCount {
        try arguments.write(index, to: &buffers.pointee.operations)
      } else {
        try arguments.write(index, to: &buffers.pointee.oldValues)
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
    for index in 2 + keyCount..<firstPair { try arguments.write(index, to: &buffers.pointee.operations) }
    buffers.pointee.operations.varint(changed)
    for pair in stride(from: firstPair, to: arguments.count, by: 2) where !arguments.isIdentical(pair, pair + 1) {
      let column = firstColumn + (pair - firstPair) / 2
      buffers.pointee.operations.varint(column)
      try arguments.write(pair + 1, to: &buffers.pointee.operations)
      try arguments.write(pair, to: &buffers.pointee.oldValues)
      if !uses[use].columns[column] { uses[use].columns[column] = true }
    }
  }

  @discardableResult
  private func begin(_ kind: OperationKind, table: Int) throws -> Int {
    let use = try use(of: table)
    let pending = compressor.end
    if buffers.pointee.operations.count - pending >= PieceCompressor.pieceSize {
      buffers.pointee.operations.bytes.withUnsafeBytes { bytes in
        compressor.add(UnsafeRawBufferPointer(rebasing: bytes[pending...]), end: bytes.count)
      }
    }
    if kind == .insert, !uses[use].usesAll { uses[use].usesAll = true }
    entries.append(Entry(operation: buffers.pointee.operations.count, old: buffers.pointee.oldValues.count, table: use, kind: kind))
    buffers.pointee.operations.varint(Operation.head(table: use, kind: kind))
    return use
  }

  private func use(of table: Int) throws -> Int {
    let entry = try self.table(table)
    if let number = useNumbers[table] { return number }
    useNumbers[table] = uses.count
    let columns = Array(repeating: false, count: entry.definition.columns.count)
    uses.append(Use(table: entry, firstEntry: entries.count, usesAll: false, columns: columns))
    return uses.count - 1
  }

  private func table(_ number: Int) throws -> CatalogTable {
    if tables.indices.contains(number), let table = tables[number] { return table }
    let table = number
    let error = GodwitError(.damagedLog, "a trigger reports table \(table), which the catalog does not have")
    failure = error
    throw error
  }
}

extension ChangeCapture: InsertCapture {
  func table(_ name: String) -> CapturedTable {
    let name = name.lowercased()
    return tables.firstIndex { $0?.definition.name.lowercased() == name }.map { .direct($0) } ?? .none
  }

  func insert(
    table: Int, encode: (UnsafeMutablePointer<ByteWriter>) throws -> Void,
    store: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let mark = mark()
    try begin(.insert, table: table)
    let start = buffers.pointee.operations.count
    do {
      try withUnsafeMutablePointer(to: &buffers.pointee.operations) { try encode($0) }
      try buffers.pointee.operations.bytes.withUnsafeBytes { bytes in
        try store(UnsafeRawBufferPointer(rebasing: bytes[start...]))
      }
    } catch {
      rewind(to: mark)
      throw error
    }
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
