import GodwitBase

/// A condition on a model's columns, built by comparing fields: `$0.title.hasPrefix("Buy") && $0.views > 3`.
public struct Predicate<Root: Model>: Sendable {
  /// SQL that is true or false for a row, with its bound values; or why it cannot be written.
  let condition: Result<SQL, GodwitError>

  init(_ text: String, _ values: [Value] = []) { condition = .success(SQL(text: text, values: values)) }
  init(failure: GodwitError) { condition = .failure(failure) }
  init(_ condition: Result<SQL, GodwitError>) { self.condition = condition }

  private func joined(_ other: Predicate, by word: String) -> Predicate {
    Predicate(
      condition.flatMap { left in
        other.condition.map { right in
          SQL(text: "(\(left.text) \(word) \(right.text))", values: left.values + right.values)
        }
      })
  }

  /// Both hold.
  public static func && (left: Predicate, right: Predicate) -> Predicate { left.joined(right, by: "AND") }
  /// At least one holds.
  public static func || (left: Predicate, right: Predicate) -> Predicate { left.joined(right, by: "OR") }
  /// Does not hold.
  public static prefix func ! (predicate: Predicate) -> Predicate {
    Predicate(predicate.condition.map { SQL(text: "NOT \($0.text)", values: $0.values) })
  }
}
