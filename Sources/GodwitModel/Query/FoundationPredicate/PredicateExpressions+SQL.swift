import Foundation
import GodwitBase

// MARK: Columns and constants

extension PredicateExpressions.Variable: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard let bound = translator.bindings[key] else { throw PredicateTranslator<Root>.untranslatable(self) }
    return bound
  }
}

extension PredicateExpressions.KeyPath: SQLTranslatable {
  func term<Model: GodwitModel.Model>(
    _ translator: PredicateTranslator<Model>
  ) throws(GodwitError) -> PredicateTranslator<Model>.Term {
    guard let variable = root as? PredicateExpressions.Variable<Model>, variable.key == translator.variable,
      let property = (keyPath as AnyKeyPath) as? PartialKeyPath<Model>
    else {
      if let constant = root as? any PredicateConstant, let value = constant.follow(keyPath) {
        return .init(parts: [.stored(value)], precedence: .atom, isNullable: true)
      }
      throw PredicateTranslator<Model>.untranslatable(self)
    }
    let number = try translator.schema.column(for: property)
    return .init(
      parts: [.column(table: translator.schema.table, name: translator.schema.columns[number].name)], precedence: .atom,
      isNullable: translator.schema.columns[number].isNullable)
  }
}

extension PredicateExpressions.Value: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard let value = value as? any ColumnValue else { throw PredicateTranslator<Root>.untranslatable(self) }
    let part = SQLPart.stored(value)
    if case .value(.null) = part { return .init(parts: [part], precedence: .atom, isNullable: true) }
    return .init(parts: [part], precedence: .atom)
  }
}

extension PredicateExpressions.NilLiteral: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    .init(parts: [.text("NULL")], precedence: .atom, isNullable: true)
  }
}

/// A constant whose properties a predicate may ask for.
private protocol PredicateConstant {
  func follow(_ keyPath: AnyKeyPath) -> (any ColumnValue)?
  var elements: [any ColumnValue]? { get }
}

extension PredicateExpressions.Value: PredicateConstant {
  func follow(_ keyPath: AnyKeyPath) -> (any ColumnValue)? {
    (keyPath as? PartialKeyPath<Output>).flatMap { value[keyPath: $0] as? any ColumnValue }
  }

  var elements: [any ColumnValue]? {
    guard let sequence = value as? any Sequence else { return nil }
    var elements: [any ColumnValue] = []
    for element in sequence as any Sequence {
      guard let element = element as? any ColumnValue else { return nil }
      elements.append(element)
    }
    return elements
  }
}

// MARK: Comparison and logic

extension PredicateExpressions.Equal: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    translator.compare(try translator.term(lhs), try translator.term(rhs), "=", "IS")
  }
}

extension PredicateExpressions.NotEqual: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    translator.compare(try translator.term(lhs), try translator.term(rhs), "<>", "IS NOT")
  }
}

extension PredicateExpressions.Comparison: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard LHS.Output.self is any OrderedColumnValue.Type else { throw PredicateTranslator<Root>.untranslatable(self) }
    let sign =
      switch op {
      case .lessThan: "<"
      case .lessThanOrEqual: "<="
      case .greaterThan: ">"
      case .greaterThanOrEqual: ">="
      @unknown default: throw PredicateTranslator<Root>.untranslatable(self)
      }
    return translator.order(try translator.term(lhs), sign, try translator.term(rhs))
  }
}

extension PredicateExpressions.Conjunction: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    translator.join(try translator.term(lhs), "AND", try translator.term(rhs), .and)
  }
}

extension PredicateExpressions.Disjunction: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    translator.join(try translator.term(lhs), "OR", try translator.term(rhs), .or)
  }
}

extension PredicateExpressions.Negation: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    let condition: SQLExpression<Bool> = !(try translator.term(wrapped).typed())
    return .init(parts: condition.parts, precedence: condition.precedence)
  }
}

extension PredicateExpressions.Conditional: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    let (yes, no) = (try translator.term(trueBranch), try translator.term(falseBranch))
    let start: [SQLPart] = [.text("CASE WHEN ")] + (try translator.term(test)).parts + [.text(" THEN ")]
    return .init(
      parts: start + yes.parts + [.text(" ELSE ")] + no.parts + [.text(" END")], precedence: .atom,
      isNullable: yes.isNullable || no.isNullable)
  }
}

// MARK: Optionals

extension PredicateExpressions.NilCoalesce: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    let (first, second) = (try translator.term(lhs), try translator.term(rhs))
    return .init(
      parts: [.text("coalesce(")] + first.parts + [.text(", ")] + second.parts + [.text(")")], precedence: .atom,
      isNullable: second.isNullable)
  }
}

extension PredicateExpressions.OptionalFlatMap: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    var inner = translator
    var bound = try translator.term(wrapped)
    bound.isNullable = false
    inner.bindings[variable.key] = bound
    let present = bound.operand(.comparison) + [.text(" IS NOT NULL THEN ")]
    return .init(
      parts: [.text("CASE WHEN ")] + present + (try inner.term(transform)).parts + [.text(" END")], precedence: .atom,
      isNullable: true)
  }
}

/// Of a row without a value Swift would stop the program; such a row just does not match.
extension PredicateExpressions.ForcedUnwrap: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    var term = try translator.term(inner)
    term.isNullable = false
    return term
  }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard LHS.Output.self is any SQLNumber.Type else { throw PredicateTranslator<Root>.untranslatable(self) }
    let (left, right) = (try translator.term(lhs), try translator.term(rhs))
    switch op {
    case .add: return translator.binary(left, "+", right, .sum)
    case .subtract: return translator.binary(left, "-", right, .sum)
    case .multiply: return translator.binary(left, "*", right, .product)
    @unknown default: throw PredicateTranslator<Root>.untranslatable(self)
    }
  }
}

extension PredicateExpressions.FloatDivision: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard LHS.Output.self is any SQLNumber.Type else { throw PredicateTranslator<Root>.untranslatable(self) }
    return translator.quotient(try translator.term(lhs), "/", try translator.term(rhs))
  }
}

extension PredicateExpressions.IntDivision: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard LHS.Output.self is any SQLNumber.Type else { throw PredicateTranslator<Root>.untranslatable(self) }
    return translator.quotient(try translator.term(lhs), "/", try translator.term(rhs))
  }
}

extension PredicateExpressions.IntRemainder: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard LHS.Output.self is any SQLNumber.Type else { throw PredicateTranslator<Root>.untranslatable(self) }
    return translator.quotient(try translator.term(lhs), "%", try translator.term(rhs))
  }
}

extension PredicateExpressions.UnaryMinus: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard Wrapped.Output.self is any SQLNumber.Type else { throw PredicateTranslator<Root>.untranslatable(self) }
    let term = try translator.term(wrapped)
    return .init(parts: [.text("-(")] + term.parts + [.text(")")], precedence: .product, isNullable: term.isNullable)
  }
}

// MARK: Membership and text

extension PredicateExpressions.SequenceContains: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard let elements = (sequence as? any PredicateConstant)?.elements else {
      throw PredicateTranslator<Root>.untranslatable(self)
    }
    let found = try translator.term(element)
    let stored = elements.map { SQLPart.stored($0) }
    let list = try stored.listed.get()
    let parts: [SQLPart] = [.list(found.operand(.comparison), list)]
    guard found.isNullable else { return .init(parts: parts, precedence: .comparison) }
    let isFound: [SQLPart] = [.text("coalesce(")] + parts + [.text(", 0)")]
    guard list.values.count < stored.count else { return .init(parts: isFound, precedence: .atom) }
    return .init(
      parts: isFound + [.text(" OR ")] + found.operand(.comparison) + [.text(" IS NULL")], precedence: .or)
  }
}

extension PredicateExpressions.CollectionContainsCollection: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard Base.Output.self == String.self, Other.Output.self == String.self else {
      throw PredicateTranslator<Root>.untranslatable(self)
    }
    let (text, part) = (try translator.term(base), try translator.term(other))
    return .init(
      parts: [.text("instr(")] + text.parts + [.text(", ")] + part.parts + [.text(") > 0")], precedence: .comparison)
  }
}

extension PredicateExpressions.SequenceStartsWith: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard let prefix = prefix as? PredicateExpressions.Value<String>, Base.Output.self == String.self else {
      throw PredicateTranslator<Root>.untranslatable(self)
    }
    let text: SQLExpression<String> = try translator.term(base).typed()
    let condition = text.hasPrefix(prefix.value)
    return .init(parts: condition.parts, precedence: condition.precedence)
  }
}

// MARK: Ranges

/// A range whose ends can be written.
private protocol SQLTranslatableRange {
  func contains<Root: Model>(
    _ element: PredicateTranslator<Root>.Term, _ translator: PredicateTranslator<Root>
  ) throws(GodwitError) -> PredicateTranslator<Root>.Term
}

extension PredicateExpressions.ClosedRange: SQLTranslatableRange {
  func contains<Root: Model>(
    _ element: PredicateTranslator<Root>.Term, _ translator: PredicateTranslator<Root>
  ) throws(GodwitError) -> PredicateTranslator<Root>.Term {
    let (low, high) = (try translator.term(lower), try translator.term(upper))
    return translator.join(translator.order(element, ">=", low), "AND", translator.order(element, "<=", high), .and)
  }
}

extension PredicateExpressions.Range: SQLTranslatableRange {
  func contains<Root: Model>(
    _ element: PredicateTranslator<Root>.Term, _ translator: PredicateTranslator<Root>
  ) throws(GodwitError) -> PredicateTranslator<Root>.Term {
    let (low, high) = (try translator.term(lower), try translator.term(upper))
    return translator.join(translator.order(element, ">=", low), "AND", translator.order(element, "<", high), .and)
  }
}

extension PredicateExpressions.Value: SQLTranslatableRange {
  func contains<Root: Model>(
    _ element: PredicateTranslator<Root>.Term, _ translator: PredicateTranslator<Root>
  ) throws(GodwitError) -> PredicateTranslator<Root>.Term {
    guard let range = value as? any ConstantRange, let (low, high, isClosed) = range.ends else {
      throw PredicateTranslator<Root>.untranslatable(self)
    }
    let lower = translator.order(element, ">=", .init(parts: [.stored(low)], precedence: .atom))
    let upper = translator.order(element, isClosed ? "<=" : "<", .init(parts: [.stored(high)], precedence: .atom))
    return translator.join(lower, "AND", upper, .and)
  }
}

private protocol ConstantRange {
  var ends: (any ColumnValue, any ColumnValue, isClosed: Bool)? { get }
}

extension ClosedRange: ConstantRange {
  var ends: (any ColumnValue, any ColumnValue, isClosed: Bool)? {
    guard let low = lowerBound as? any ColumnValue, let high = upperBound as? any ColumnValue else { return nil }
    return (low, high, true)
  }
}

extension Range: ConstantRange {
  var ends: (any ColumnValue, any ColumnValue, isClosed: Bool)? {
    guard let low = lowerBound as? any ColumnValue, let high = upperBound as? any ColumnValue else { return nil }
    return (low, high, false)
  }
}

extension PredicateExpressions.RangeExpressionContains: SQLTranslatable {
  func term<Root: Model>(_ translator: PredicateTranslator<Root>) throws(GodwitError) -> PredicateTranslator<Root>.Term
  {
    guard Element.Output.self is any OrderedColumnValue.Type, let range = range as? any SQLTranslatableRange else {
      throw PredicateTranslator<Root>.untranslatable(range)
    }
    return try range.contains(translator.term(element), translator)
  }
}
