import GodwitBase
import GodwitStorage

/// A model's SQL for single-row work and the access to its properties, made once per model. A class, so that the
/// hot paths pass on one reference.
package final class ModelLayout: Sendable {
  package let table: String
  package let accesses: [ColumnAccess]
  /// The columns' names, quoted, as a SELECT lists them.
  package let columnList: String
  package let selectByKey: String
  package let insert: String
  package let insertOrFail: String
  package let deleteByKey: String
  package let columns: [String]
  /// What every query of the model starts from.
  let everything: SelectStatement
  package let keyCount: Int
  /// Whether an insert without a key gets one from the database.
  package let numbersKeys: Bool
  /// The columns that hold when a row was made and changed, in this order; empty when there are none.
  package let timestamps: [Int]
  /// Whether what is stored differs from what is inserted: the one question that every insert asks.
  package let fillsIn: Bool
  private let loadHook: (any LoadHook.Type)?
  private let keyCondition: String
  private let quotedTable: String
  private let quotedColumns: [String]

  init(
    table: String, columns: [String], accesses: [ColumnAccess], keyCount: Int, numbersKeys: Bool, timestamps: [Int],
    loadHook: (any LoadHook.Type)?
  ) {
    self.columns = columns
    self.keyCount = keyCount
    self.numbersKeys = numbersKeys
    self.timestamps = timestamps
    fillsIn = numbersKeys || !timestamps.isEmpty
    self.table = table
    self.loadHook = loadHook
    self.accesses = accesses
    quotedTable = SQLName.quoted(table)
    quotedColumns = columns.map(SQLName.column)
    let list = quotedColumns.joined(separator: ", ")
    keyCondition = quotedColumns.prefix(keyCount).map { "\($0) = ?" }.joined(separator: " AND ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    columnList = list
    everything = SelectStatement(columnList: list, table: table)
    selectByKey = "SELECT \(list) FROM \(quotedTable) WHERE \(keyCondition)"
    insert = "INSERT INTO \(quotedTable) (\(list)) VALUES (\(places))"
    // FAIL needs no statement journal, which costs ten times the insert itself; one row has nothing to take back.
    insertOrFail = "INSERT OR FAIL INTO \(quotedTable) (\(list)) VALUES (\(places))"
    deleteByKey = "DELETE FROM \(quotedTable) WHERE \(keyCondition)"
  }

  /// Reads the current row into the model at `model`, column by column, and lets the model know.
  package func read(_ statement: Statement, from first: Int32 = 0, into model: UnsafeMutableRawPointer) throws {
    try accesses.withUnsafeBufferPointer { accesses in
      for index in accesses.indices {
        let source = ColumnReaderSource(statement, first &+ Int32(truncatingIfNeeded: index))
        try accesses[index].read(model + accesses[index].offset, source)
      }
    }
    loadHook?.hasLoaded(at: model)
  }

  /// The current row as a model of this layout's type, over a copy of `init()`.
  func model<Root: Model>(_ statement: Statement, from first: Int32 = 0) throws -> Root {
    var model = Root()
    try withUnsafeMutableBytes(of: &model) { bytes in
      guard let start = bytes.baseAddress else { return }
      try read(statement, from: first, into: start)
    }
    return model
  }

  /// Reads some columns, which are all that the current row has.
  func read(_ statement: Statement, columns: [Int], into model: UnsafeMutableRawPointer) throws {
    for (index, column) in columns.enumerated() {
      let access = accesses[column]
      try access.read(model + access.offset, ColumnReaderSource(statement, Int32(index)))
    }
  }

  /// Binds the model at `model` to a statement's parameters 1, 2, …
  package func bind(_ model: UnsafeRawPointer, to statement: Statement) throws {
    try accesses.withUnsafeBufferPointer { accesses in
      for index in accesses.indices {
        try accesses[index].bind(
          model + accesses[index].offset, ColumnBinderTarget(statement, Int32(truncatingIfNeeded: index + 1)))
      }
    }
  }

  /// Appends the model's encoded values.
  package func encode(_ model: UnsafeRawPointer, to writer: UnsafeMutablePointer<ByteWriter>) throws {
    try accesses.withUnsafeBufferPointer { accesses in
      for index in accesses.indices { try accesses[index].bind(model + accesses[index].offset, .bytes(writer)) }
    }
  }

  /// The model's stored values, in the order of the columns.
  package func values(_ model: UnsafeRawPointer) throws -> [Value] {
    try accesses.map { try $0.storedValue(model + $0.offset) }
  }

  /// An UPDATE of the named columns by key; the key comes last.
  package func update(columns: [Int], orFail: Bool) -> String {
    let assignments = columns.map { "\(quotedColumns[$0]) = ?" }.joined(separator: ", ")
    return "UPDATE \(orFail ? "OR FAIL " : "")\(quotedTable) SET \(assignments) WHERE \(keyCondition)"
  }

  /// The same model with its columns in the order of a table that has exactly these, or nil.
  package func arranged(as order: [String]) -> ModelLayout? {
    if order == columns { return self }
    let places = order.compactMap { columns.firstIndex(of: $0) }
    guard places.count == order.count, Set(places).count == columns.count else { return nil }
    return ModelLayout(
      table: table, columns: order, accesses: places.map { accesses[$0] }, keyCount: keyCount,
      numbersKeys: numbersKeys, timestamps: timestamps.compactMap { places.firstIndex(of: $0) }, loadHook: loadHook)
  }
}
