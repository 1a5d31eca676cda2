import GodwitBase

/// Finds the rows that refer to others by one column. Without an index on the column that is a pass over the table;
/// rows that refer to each other in a chain ask for one after another, so from the third on there is an index, until
/// ``end()``.
final class ReferenceScan {
  private let table: MergeTable
  private let column: Int
  private var passes = 0
  private var isIndexed: Bool
  private var hasOwnIndex = false

  /// What may be read without an index: making one costs about as much as two passes.
  private static let passLimit = 2

  init(_ table: MergeTable, _ reference: MergeTable.Reference) {
    self.table = table
    column = reference.column
    isIndexed = table.hasIndex(on: reference.column)
  }

  /// The keys of the rows that hold one of the values there.
  func children(of values: Set<Value>) throws -> [[UInt8]] {
    if !isIndexed {
      guard passes >= Self.passLimit else { return try pass(values) }
      try table.rows.makeIndex(on: column)
      hasOwnIndex = true
      isIndexed = true
    }
    return try values.flatMap { try table.rows.keys(where: [column], are: [$0]) }
  }

  private func pass(_ values: Set<Value>) throws -> [[UInt8]] {
    passes += 1
    var found: [[UInt8]] = []
    let type = table.definition.columns[column].type
    let sought = Set(values.map { $0.asKey(of: type) })
    try table.rows.forEachKey(andColumn: column) { key, value in
      if sought.contains(value.asKey(of: type)) { found.append(key) }
    }
    return found
  }

  /// Takes away the index that was made.
  func end() throws {
    if hasOwnIndex { try table.rows.dropIndex(on: column) }
  }
}
