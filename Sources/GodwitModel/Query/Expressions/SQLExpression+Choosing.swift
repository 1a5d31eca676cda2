import GodwitBase

// CASE: one of two results, by a condition.
extension SQLExpression where Value == Bool {
  /// One of two expressions: `($0.pages > 300).then($0.title, else: $0.subtitle ?? "")`. More than two are nested.
  public func then<Output>(_ yes: SQLExpression<Output>, else no: SQLExpression<Output>) -> SQLExpression<Output> {
    let start = [.text("CASE WHEN ")] + parts + [.text(" THEN ")] + yes.parts
    return SQLExpression<Output>(start + [.text(" ELSE ")] + no.parts + [.text(" END")])
  }

  /// One of two values: `($0.pages > 300).then("long", else: "short")`.
  public func then<Output: ColumnValue>(_ yes: Output, else no: Output) -> SQLExpression<Output> {
    then(.value(yes), else: .value(no))
  }

  /// A value, or an expression where the condition does not hold.
  public func then<Output>(_ yes: Output, else no: SQLExpression<Output>) -> SQLExpression<Output> {
    then(.value(yes), else: no)
  }

  /// An expression, or a value where the condition does not hold.
  public func then<Output>(_ yes: SQLExpression<Output>, else no: Output) -> SQLExpression<Output> {
    then(yes, else: .value(no))
  }
}

extension Model {
  /// Whether a row of this model meets the condition, which may name fields of the query around it:
  /// `Author.where { author in Book.exists { $0.author == author.id } }`. The two may be of one model.
  public static func exists(_ condition: (Fields<Self>) -> SQLExpression<Bool>) -> SQLExpression<Bool> {
    var number = 1
    while true {
      // A name of its own, that no table can have, and no question inside this one has.
      let fields = Fields<Self>(alias: "godwit_inner_\(number)")
      let filter = condition(fields)
      if !filter.parts.contains(inner: fields.name) {
        let rows: [SQLPart] = [.text("SELECT 1 FROM \(fields.source) WHERE ")] + filter.parts
        return SQLExpression<Bool>([.text("EXISTS ("), .subquery(rows), .text(")")])
      }
      number += 1
    }
  }
}

extension [SQLPart] {
  /// Whether a statement among them calls a table by the name.
  fileprivate func contains(inner name: String) -> Bool {
    contains { part in
      switch part {
      case .text(let text): text.contains("AS \(SQLName.quoted(name)) ")
      case .subquery(let parts), .list(let parts, _): parts.contains(inner: name)
      default: false
      }
    }
  }
}
