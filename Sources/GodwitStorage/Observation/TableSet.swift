/// Tables by name, without regard to case; or every table there is.
package enum TableSet: Equatable, Sendable {
  /// In lower case.
  case some(Set<String>)
  /// Which ones is not known, so it may be any.
  case all

  package static let none = TableSet.some([])

  package init(_ names: some Sequence<String>) { self = .some(Set(names.map { $0.lowercased() })) }

  package mutating func formUnion(_ other: TableSet) {
    guard case .some(let mine) = self, case .some(let others) = other else { return self = .all }
    self = .some(mine.union(others))
  }

  /// Whether a table may be in both.
  package func meets(_ other: TableSet) -> Bool {
    switch (self, other) {
    case (.some(let mine), .some(let others)): !mine.isDisjoint(with: others)
    case (.all, _): other != .none
    case (_, .all): self != .none
    }
  }
}
