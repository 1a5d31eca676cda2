import GodwitBase

/// How the rows of one table merge.
package struct RowRules {
  package let deletes: DeletePolicy
  /// The columns beside the key.
  package let columns: Range<Int>
  /// By column number; the last writer wins in columns that are not named.
  package let policies: [Int: MergePolicy]
  private let functions: [String: CustomMerge]
  /// Whether an insert's stamp stands for every column, or only for those it names: authors of documents know different
  /// columns, and what one did not know of it has not written (Specs/documents.md, "Merging").
  package let insertsClaimAll: Bool

  package init(
    columns: Range<Int>, deletes: DeletePolicy = .editWins, policies: [Int: MergePolicy] = [:],
    functions: [String: CustomMerge] = [:], insertsClaimAll: Bool = true
  ) {
    self.insertsClaimAll = insertsClaimAll
    self.columns = columns
    self.deletes = deletes
    self.policies = policies.filter { $0.value.isContributed }
    self.functions = functions
  }

  package init(_ table: TableDefinition, functions: [String: CustomMerge] = [:]) {
    self.init(
      columns: table.keyCount..<table.columns.count, deletes: table.deletes,
      policies: Dictionary(uniqueKeysWithValues: table.columns.enumerated().map { ($0, $1.merge) }),
      functions: functions, insertsClaimAll: !table.isCollection)
  }

  package func policy(of column: Int) -> MergePolicy { policies[column] ?? .lastWriterWins }

  /// What a cell of an update makes of the value that its author saw: a relative one is applied to it.
  package func value(of cell: Cell, appliedTo before: Value) throws -> Value {
    switch (policy(of: cell.column), before, cell.value) {
    case (.counter, .integer(let count), .integer(let difference)): return .integer(count &+ difference)
    case (.counter, _, _): throw ByteReader.malformed("a change of a counter")
    case (.addWinsSet, _, _):
      return SetElements.value(of: try SetChange(cell.value).applied(to: SetElements.parse(before) ?? []))
    default: return cell.value
    }
  }

  /// What a column is made of with what a write brings to it: a counter adds up, a removal from a set takes away what
  /// it saw of an element, and all other writes take back all that they saw.
  package func contributions(
    _ all: [Contribution], and value: Value, to column: Int, by write: RowWrite
  ) throws -> [Contribution] {
    func brought(_ value: Value) -> Contribution { Contribution(dot: write.stamp.dot, value: value) }
    switch policy(of: column) {
    case .counter where write.kind == .update: return all + [brought(value)]
    case .addWinsSet where write.kind == .update:
      // What comes to a set and is none says nothing (``RelativeValue``).
      guard let change = try? SetChange(value) else { return all }
      let changed = change.changed
      let unseen = Set(all.unseen(by: write.context))
      return all.filter { unseen.contains($0) || !changed.contains($0.value) } + change.added.map { brought(.text($0)) }
    case .addWinsSet:
      return all.unseen(by: write.context) + (SetElements.parse(value) ?? []).map { brought(.text($0)) }
    default: return all.unseen(by: write.context) + [brought(value)]
    }
  }

  /// The value that columns with a choice of values show. NULL is shown only when there is nothing else.
  package func choice(_ contributions: [Contribution], by policy: MergePolicy) throws -> Value {
    let values = contributions.ordered().map(\.value).filter { $0 != .null }
    guard let first = values.first, values.count > 1 else { return values.first ?? .null }
    func greater(_ left: Value, _ right: Value) -> Value { left.precedes(right) ? right : left }
    switch policy {
    case .maximum: return values.reduce(first, greater)
    case .minimum: return values.reduce(first) { $1.precedes($0) ? $1 : $0 }
    case .custom(let name):
      guard let function = functions[name] else { throw Self.missing(name) }
      // What the function cannot take says nothing beside what it can: no honest program writes it.
      let fit = try values.filter(function.accepts)
      return try fit.first.map { try fit.dropFirst().reduce($0, function.combine) } ?? values.reduce(first, greater)
    case .lastWriterWins, .counter, .addWinsSet: return values.last ?? first
    }
  }

  private static func missing(_ name: String) -> GodwitError {
    GodwitError(
      .needsApplication, "two values meet in a column that the program's own function \(name) merges",
      hint: "import with the program that owns this replica; nothing was changed")
  }
}
