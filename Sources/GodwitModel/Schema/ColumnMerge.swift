import GodwitBase
import GodwitCore
import GodwitStorage

/// What becomes of writes to one column that had not seen each other (Specs/merge.md, "Policies").
///
/// ```swift
/// Column("views", \.views, merge: .counter)
/// ```
public struct ColumnMerge<Value: ColumnValue>: Sendable {
  package let policy: MergePolicy
  private let combine: (@Sendable (Value, Value) throws -> Value)?

  private init(_ policy: MergePolicy, combine: (@Sendable (Value, Value) throws -> Value)? = nil) {
    self.policy = policy
    self.combine = combine
  }

  /// The program's function over stored values, which a statement of the connection turns into the property's type.
  package var custom: CustomMergeFactory? {
    guard let combine, case .custom(let name) = policy else { return nil }
    return { connection in
      CustomMerge(name: name) { value in
        try connection.withStatement("SELECT ?1") { statement in
          try statement.bind([value])
          guard try statement.step() else { return false }
          do {
            _ = try Value.read(from: ColumnReader(ColumnReaderSource(statement, 0)))
            return true
          } catch let error as GodwitError where error.code == .valueMismatch {
            return false
          }
        }
      } combine: { left, right in
        try connection.withStatement("SELECT ?1, ?2") { statement in
          try statement.bind([left, right])
          guard try statement.step() else { return left }
          return try combine(
            Value.read(from: ColumnReader(ColumnReaderSource(statement, 0))),
            Value.read(from: ColumnReader(ColumnReaderSource(statement, 1)))
          ).storedValue()
        }
      }
    }
  }

  /// The later write stays; the other is kept as a conflict.
  public static var lastWriterWins: Self { Self(.lastWriterWins) }

  /// The program's own function makes one value of two.
  ///
  /// Every replica must come to the same value whatever the order, so the function must be commutative, associative
  /// and idempotent: `combine(a, b) == combine(b, a)`, `combine(a, combine(b, c)) == combine(combine(a, b), c)` and
  /// `combine(a, a) == a`. ``ColumnMerge/violations(among:)`` looks for values that break this; run it in a test.
  ///
  /// Only a program that opens the replica with this model can merge such a column; others get the error
  /// `needsApplication`.
  ///
  /// - Parameters:
  ///   - name: What the function is called; a changed function needs another name.
  ///   - combine: Makes one value of two.
  public static func custom(_ name: String, _ combine: @escaping @Sendable (Value, Value) throws -> Value) -> Self {
    Self(.custom(name), combine: combine)
  }

  /// Sentences on values that break the laws of a merge: empty when none does. A policy of Godwit's own breaks none.
  ///
  /// Takes time in proportion to the cube of the number of samples.
  public func violations(among samples: [Value]) throws -> [String] {
    guard let combine else { return [] }
    func isSame(_ left: Value, _ right: Value) throws -> Bool { try left.storedValue() == right.storedValue() }
    var found: [String] = []
    for a in samples {
      if try !isSame(combine(a, a), a) { found.append("\(a) merged with itself is another value") }
      for b in samples {
        let ab = try combine(a, b)
        if try !isSame(combine(b, a), ab) { found.append("\(a) and \(b) merge to another value the other way round") }
        for c in samples where try !isSame(combine(ab, c), combine(a, combine(b, c))) {
          found.append("\(a), \(b) and \(c) merge to another value in another order")
        }
      }
    }
    return found
  }
}

extension ColumnMerge where Value: FixedWidthInteger {
  /// What each replica added or took away adds up. The sum wraps around beyond 64 bits.
  public static var counter: Self { Self(.counter) }
}

extension ColumnMerge where Value: SetColumnValue {
  /// Elements added stay, unless a remove had seen them.
  public static var addWinsSet: Self { Self(.addWinsSet) }
}

extension ColumnMerge where Value: RankedColumnValue {
  /// Of values written at the same time the greatest.
  public static var max: Self { Self(.maximum) }
  /// Of values written at the same time the least.
  public static var min: Self { Self(.minimum) }
}

/// Makes a program's merge function work on a connection's stored values.
package typealias CustomMergeFactory = @Sendable (Connection) -> CustomMerge

/// A type of whose values one is the greatest: an ordered one, or an optional of one, where nil is chosen last.
public protocol RankedColumnValue: ColumnValue {}

extension Optional: RankedColumnValue where Wrapped: OrderedColumnValue {}

/// A type stored as a set of JSON values; `Set` alone.
public protocol SetColumnValue: ColumnValue {}

extension Set: SetColumnValue where Element: Codable {}
