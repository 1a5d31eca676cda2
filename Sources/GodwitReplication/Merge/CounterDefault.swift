import GodwitBase

/// What an insert brings to a counter that its author had not got: the column's default, which a row has once, however
/// many such inserts made it (Specs/merge.md, "Policies"). A text, which no count is, tells it from a count of the author's.
package enum CounterDefault {
  package static func value(_ count: Int64) -> Value { .text(String(count)) }

  /// Nil for anything else.
  package static func count(_ value: Value) -> Int64? {
    guard case .text(let text) = value else { return nil }
    return Int64(text)
  }
}
