import GodwitBase

/// How writes of one column that had not seen each other become one value (Specs/merge.md, "Policies").
package enum MergePolicy: Hashable, Sendable {
  /// The write with the greater stamp.
  case lastWriterWins
  /// Differences add up.
  case counter
  /// What one adds stays unless a remove had seen it.
  case addWinsSet
  case maximum
  case minimum
  /// A function of the program's, by its name.
  case custom(String)

  /// As a migration file and messages have it.
  package var name: String {
    switch self {
    case .lastWriterWins: "lastWriterWins"
    case .counter: "counter"
    case .addWinsSet: "addWinsSet"
    case .maximum: "max"
    case .minimum: "min"
    case .custom(let name): "custom \(name)"
    }
  }

  package init?(name: String) {
    let plain: [MergePolicy] = [.lastWriterWins, .counter, .addWinsSet, .maximum, .minimum]
    if let policy = plain.first(where: { $0.name == name }) {
      self = policy
    } else {
      guard name.hasPrefix("custom "), name.utf8.count > 7 else { return nil }
      self = .custom(String(name.dropFirst(7)))
    }
  }

  /// Whether an update carries what it does to the value rather than the value.
  package var isRelative: Bool { self == .counter || self == .addWinsSet }

  /// Whether a function of the program's makes the value.
  package var isCustom: Bool { if case .custom = self { true } else { false } }

  /// Whether the value is made of what several writes contributed.
  package var isContributed: Bool { self != .lastWriterWins }
}

/// What becomes of a row when a delete and a write to it had not seen each other.
public enum DeletePolicy: UInt8, Hashable, Sendable, CaseIterable {
  /// The row stays, with the write and all its other columns.
  case editWins = 0
  /// The row goes; the write is kept as a conflict. Only an insert that saw the delete brings it back.
  case deleteWins = 1
}

/// A program's function that makes one value of two that were written at the same time.
package struct CustomMerge {
  package let name: String
  /// Whether the function can take a stored value: one that a program wrote is of its property's type.
  package let accepts: (Value) throws -> Bool
  package let combine: (Value, Value) throws -> Value

  package init(
    name: String, accepts: @escaping (Value) throws -> Bool = { _ in true },
    combine: @escaping (Value, Value) throws -> Value
  ) {
    self.name = name
    self.accepts = accepts
    self.combine = combine
  }
}
