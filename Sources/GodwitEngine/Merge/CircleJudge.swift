import GodwitBase
import GodwitCore

/// Finds the rows whose acyclic reference closes a circle: of those that make up one, the row with the greatest key
/// (Specs/merge.md, "References"). Every row refers to one other, so circles share no row.
///
/// One judge serves while the rows that live, and what they refer to, stay as they are: each row is looked at once,
/// however often others are that lead to it.
final class CircleJudge {
  private let table: MergeTable
  private let places: RowPlaces
  private var closing: [Int: Set<RowKey>] = [:]
  private var visited: [Int: Set<RowKey>] = [:]

  init(_ table: MergeTable, _ places: RowPlaces) {
    self.table = table
    self.places = places
  }

  func closes(_ key: RowKey, column: Int) -> Bool { closing[column]?.contains(key) == true }

  /// The same of any column.
  func closes(_ key: RowKey) -> Bool { closing.values.contains { $0.contains(key) } }

  /// Looks for circles through these rows, and first of all through those that closed one before; returns the rows to
  /// judge anew.
  func update(through keys: Set<RowKey>) throws -> Set<RowKey> {
    var changed: Set<RowKey> = []
    for reference in table.references where reference.isAcyclic {
      var before: Set<RowKey> = []
      if closing[reference.column] == nil {
        before = Set(try places.limbo.keys(waitingFor: Limbo.Reason(circlesOf: reference.column, table: table.number)))
      }
      var found: Set<RowKey> = []
      var visited = self.visited.removeValue(forKey: reference.column) ?? []
      for start in keys.union(before).sorted() where !visited.contains(start) {
        if let key = try greatest(onCircleFrom: start, reference, &visited) { found.insert(key) }
      }
      self.visited[reference.column] = visited
      closing[reference.column, default: []].formUnion(found)
      changed.formUnion(found.symmetricDifference(before))
    }
    return changed
  }

  /// Goes from parent to parent; the row with the greatest key when that ends in a circle.
  private func greatest(
    onCircleFrom start: RowKey, _ reference: MergeTable.Reference, _ visited: inout Set<RowKey>
  ) throws -> RowKey? {
    var path: [RowKey] = []
    var onPath: [RowKey: Int] = [:]
    var next: RowKey? = start
    while let key = next {
      if let first = onPath[key] {
        return try path[first...].max { try $0.precedes($1) }
      }
      guard visited.insert(key).inserted, let row = try places.load(key) else { return nil }
      onPath[key] = path.count
      path.append(key)
      next = try places.parent(of: reference, in: table.row(key, row.values))
    }
    return nil
  }
}
