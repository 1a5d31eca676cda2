import GodwitBase
import GodwitReplication

/// What of a transaction waits for a schema: operations by their place in the change set, each whole or with the columns
/// that are not known yet, numbered as in the change set.
struct WaitingOperations {
  /// Nil stands for the whole operation.
  private(set) var columns: [Int: [Int]?] = [:]

  init() {}

  var isEmpty: Bool { columns.isEmpty }

  mutating func add(_ operation: Int) { columns[operation] = .some(nil) }

  mutating func add(_ operation: Int, column: Int) {
    guard columns[operation] != .some(nil) else { return }
    columns[operation] = (columns[operation] ?? []).map { $0 + [column] }
  }

  func write(to writer: inout ByteWriter) {
    writer.varint(columns.count)
    var previous = 0
    for (operation, numbers) in columns.sorted(by: { $0.key < $1.key }) {
      writer.varint(operation - previous)
      previous = operation
      writer.varint(numbers?.count ?? 0)
      for number in numbers ?? [] { writer.varint(number) }
    }
  }

  init(reading reader: inout ByteReader) throws {
    var operation = 0
    for _ in 0..<(try reader.count(limit: ChangeSet.operationLimit, "operations")) {
      operation += try reader.count()
      let count = try reader.count(limit: TableDefinition.columnLimit, "columns")
      let numbers = try (0..<count).map { _ in try reader.count(limit: TableDefinition.columnLimit, "column number") }
      columns[operation] = .some(numbers.isEmpty ? nil : numbers)
    }
    try reader.expectEnd()
  }
}
