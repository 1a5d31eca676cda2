import GodwitBase

// What is asked when a column comes to a table whose rows were inserted without it.
extension RowState {
  /// What a column is of a row whose insert lacks a value there, which is the default from now on.
  package mutating func complete(_ column: Int, with value: Value, _ rules: RowRules) throws -> Value {
    let policy = rules.policy(of: column)
    guard policy.isContributed, let base else { return value }
    var brought = value
    if policy == .counter, case .integer(let count) = value { brought = CounterDefault.value(count) }
    let insert = RowWrite(kind: .insert, stamp: base, context: VersionVector(), cells: [])
    let all = try rules.contributions(contributions[column] ?? [], and: brought, to: column, by: insert)
    contributions[column] = all
    return switch policy {
    case .counter: .integer(all.sum)
    case .addWinsSet: SetElements.value(of: all.compactMap(\.text))
    default: try rules.choice(all, by: policy)
    }
  }

  /// The remembered inserts that no other had seen. The last of each origin says it for the origin: it had seen those
  /// before.
  package func heads(context: (Dot) throws -> VersionVector) rethrows -> [Dot] {
    let last = inserts.origins.map { Dot($0, inserts[$0]) }
    return try last.filter { dot in
      try !last.contains { other in try other != dot && context(other).covers(dot) }
    }
  }
}
