import GodwitBase

/// Which way to sort.
public enum SortOrder: Sendable {
  /// Smallest first; NULL before everything.
  case ascending
  /// Greatest first; NULL after everything.
  case descending
}

/// One key to sort by.
public struct Ordering: Sendable {
  let expression: [SQLPart]
  let direction: String

  var parts: [SQLPart] { direction.isEmpty ? expression : expression + [.text(direction)] }
}

extension SQLExpression {
  /// Smallest first; nil before everything.
  public var ascending: Ordering { Ordering(expression: parts, direction: "") }
  /// Greatest first; nil after everything.
  public var descending: Ordering { Ordering(expression: parts, direction: " DESC") }
}
