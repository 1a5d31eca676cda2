import Foundation
import GodwitBase

/// Writes Foundation's predicates as SQL. What has no counterpart is an error that names it; rows are never filtered
/// in memory.
struct PredicateTranslator<Root: Model> {
  /// Stands for the row.
  let variable: PredicateExpressions.VariableID
  /// Asked for once: to hand it out copies all that it holds.
  let schema = Root.schema
  /// What optional chaining has given names to.
  var bindings: [PredicateExpressions.VariableID: Term] = [:]

  /// An expression in SQL, with its value's type erased.
  struct Term {
    let parts: [SQLPart]
    let precedence: SQLPrecedence
    /// Whether it may be NULL, so that comparisons must find it.
    var isNullable = false

    func typed<Value>() -> SQLExpression<Value> { SQLExpression(parts, precedence) }

    func operand(_ outer: SQLPrecedence) -> [SQLPart] { SQLExpression<Bool>(parts, precedence).operand(of: outer) }
  }

  static func condition(_ predicate: Foundation.Predicate<Root>) -> SQLExpression<Bool> {
    let translator = PredicateTranslator(variable: predicate.variable.key)
    do throws(GodwitError) {
      return try translator.term(predicate.expression).typed()
    } catch {
      return SQLExpression([.failure(error)])
    }
  }

  func term<Part>(_ expression: Part) throws(GodwitError) -> Term {
    guard let expression = expression as? any SQLTranslatable else { throw Self.untranslatable(expression) }
    return try expression.term(self)
  }

  static func untranslatable(_ expression: Any) -> GodwitError {
    let name = String(reflecting: type(of: expression)).replacing("Foundation.PredicateExpressions.", with: "")
    return GodwitError(
      .untranslatablePredicate, "a predicate cannot be written in SQL because of \(name)",
      hint: "write this part as a condition of where { … } instead")
  }

  /// Two terms under a comparison that treats NULL as a value.
  func compare(_ left: Term, _ right: Term, _ equal: String, _ nullEqual: String) -> Term {
    let sign = left.isNullable || right.isNullable ? nullEqual : equal
    return binary(left, sign, right, .comparison)
  }

  func binary(_ left: Term, _ sign: String, _ right: Term, _ precedence: SQLPrecedence) -> Term {
    Term(
      parts: .joined(left.operand(precedence), sign, right.operand(precedence)), precedence: precedence,
      isNullable: precedence != .comparison && (left.isNullable || right.isNullable))
  }

  /// A division or a remainder: by zero SQL gives NULL.
  func quotient(_ left: Term, _ sign: String, _ right: Term) -> Term {
    var term = binary(left, sign, right, .product)
    term.isNullable = true
    return term
  }

  /// An ordering, which is false for NULL.
  func order(_ left: Term, _ sign: String, _ right: Term) -> Term {
    let comparison = binary(left, sign, right, .comparison)
    guard left.isNullable || right.isNullable else { return comparison }
    return Term(parts: [.text("coalesce(")] + comparison.parts + [.text(", 0)")], precedence: .atom)
  }

  func join(_ left: Term, _ word: String, _ right: Term, _ precedence: SQLPrecedence) -> Term {
    let (first, second): (SQLExpression<Bool>, SQLExpression<Bool>) = (left.typed(), right.typed())
    let both = precedence == .and ? first && second : first || second
    return Term(parts: both.parts, precedence: both.precedence)
  }
}

/// A part of a predicate that has a counterpart in SQL.
protocol SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
}

extension Model {
  /// The rows that meet the predicate.
  ///
  /// Comparisons, logic, arithmetic, `contains`, `starts(with:)`, ranges, optionals and constants are written in SQL;
  /// anything else is an `untranslatablePredicate` error when the query runs.
  public static func `where`(_ predicate: Foundation.Predicate<Self>) -> Query<Self> { all.where(predicate) }
}

extension Query {
  /// Rows that also meet the predicate, as `Model.where` of a predicate does.
  public func `where`(_ predicate: Foundation.Predicate<Root>) -> Query {
    `where` { _ in PredicateTranslator.condition(predicate) }
  }
}
