import GodwitBase

/// What one write brought to a column whose value is made of several: a counter's difference, a set's element as
/// JSON, or a value to choose from.
package struct Contribution: Hashable, Sendable {
  package let dot: Dot
  package let value: Value

  package init(dot: Dot, value: Value) {
    self.dot = dot
    self.value = value
  }
}

extension [Contribution] {
  /// In an order that does not depend on arrival, so that equal states have equal bytes.
  package func ordered() -> [Contribution] {
    sorted { left, right in
      if left.dot.origin != right.dot.origin { return left.dot.origin < right.dot.origin }
      if left.dot.sequence != right.dot.sequence { return left.dot.sequence < right.dot.sequence }
      return left.value.sortKey.lexicographicallyPrecedes(right.value.sortKey)
    }
  }

  /// Those that a write with this context had not seen.
  func unseen(by context: VersionVector) -> [Contribution] { filter { !context.covers($0.dot) } }

  /// The sum of a counter's contributions. It wraps around, since only that is the same in every order.
  package var sum: Int64 {
    reduce(0) { sum, contribution in
      guard case .integer(let difference) = contribution.value else { return sum }
      return sum &+ difference
    }
  }
}

extension Value {
  /// Orders any two values the same way everywhere.
  fileprivate var sortKey: [UInt8] {
    var writer = ByteWriter()
    writer.value(self)
    return writer.bytes
  }

  /// Rank by storage class, then by value, as SQLite orders under BINARY.
  package func precedes(_ other: Value) -> Bool {
    func rank(_ value: Value) -> Int {
      switch value {
      case .null: 0
      case .integer, .real: 1
      case .text: 2
      case .blob: 3
      }
    }
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return left < right
    case (.text(let left), .text(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.blob(let left), .blob(let right)): return left.lexicographicallyPrecedes(right)
    case (.integer, .real), (.real, .integer), (.real, .real): return Self.numberPrecedes(self, other)
    default: return rank(self) < rank(other)
    }
  }

  /// Numbers that compare equal are ordered by class and bits, so that the greater of two is always the same one.
  private static func numberPrecedes(_ left: Value, _ right: Value) -> Bool {
    let (first, second) = (left.double, right.double)
    if first != second { return first < second }
    switch (left, right) {
    case (.real(let a), .real(let b)): return a.bitPattern > b.bitPattern  // −0.0 before 0.0
    case (.integer, .real): return true
    default: return false
    }
  }

  private var double: Double {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: 0
    }
  }
}
