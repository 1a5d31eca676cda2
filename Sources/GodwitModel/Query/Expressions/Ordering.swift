import Foundation
import GodwitBase

extension Ordering {
  /// Which way to sort.
  public enum Direction: Sendable {
    /// Smallest first; NULL before everything.
    case ascending
    /// Greatest first; NULL after everything.
    case descending
  }
}

/// What to sort by.
public struct Ordering: Sendable {
  let terms: [OrderTerm]

  /// The same, with ASCII letters in both cases sorted as one: `$0.title.ascending.ignoringCase`.
  public var ignoringCase: Ordering {
    Ordering(
      terms: terms.map { OrderTerm(expression: $0.expression, direction: " COLLATE NOCASE" + $0.direction) })
  }
}

/// One expression of ORDER BY.
struct OrderTerm: Sendable {
  let expression: [SQLPart]
  let direction: String

  var parts: [SQLPart] { direction.isEmpty ? expression : expression + [.text(direction)] }
}

// A Decimal, stored as text, is sorted as a number: by the nearest double, and by its text among those that have the
// same one. A key of several columns is sorted column by column.
extension SQLExpression {
  /// Smallest first; nil before everything.
  public var ascending: Ordering { sorted("") }
  /// Greatest first; nil after everything.
  public var descending: Ordering { sorted(" DESC") }

  private func sorted(_ direction: String) -> Ordering {
    var keys = [parts]
    if case .key(let columns)? = parts.first {
      keys = columns.map { [$0] }
    } else if Value._Present.self == Decimal.self {
      keys = [[.text("CAST(")] + parts + [.text(" AS REAL)")], parts]
    }
    return Ordering(terms: keys.map { OrderTerm(expression: $0, direction: direction) })
  }
}
