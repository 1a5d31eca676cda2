import GodwitBase

extension Query {
  /// Beside each row the rows of another model that meet the condition; rows without any are left out.
  public func join<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Required<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    return Join(start.joining(added, "JOIN", on: condition(Fields(), added)), (Fields(), added))
  }

  /// Beside each row the rows of another model that meet the condition, or nil.
  public func leftJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Maybe<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    return Join(start.joining(added, "LEFT JOIN", on: condition(Fields(), added)), (Fields(), added))
  }

  /// Beside each row the rows of two further models that meet the conditions; rows without any are left out.
  public func join<Second: Model, Third: Model>(
    _ second: Second.Type, on first: (Fields<Root>, Fields<Second>) -> SQLExpression<Bool>,
    _ third: Third.Type, on condition: (Fields<Root>, Fields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Required<Second>, Required<Third>> {
    let (joined, fields) = statement.joining("JOIN", on: first, on: condition)
    return Join(joined, fields)
  }

  /// Beside each row the rows of two further models that meet the conditions, or nil for each.
  public func leftJoin<Second: Model, Third: Model>(
    _ second: Second.Type, on first: (Fields<Root>, Fields<Second>) -> SQLExpression<Bool>,
    _ third: Third.Type, on condition: (Fields<Root>, MaybeFields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> Join<Required<Root>, Maybe<Second>, Maybe<Third>> {
    let (joined, fields) = statement.joining("LEFT JOIN", on: first) { condition($0, MaybeFields($1), $2) }
    return Join(joined, fields)
  }

  /// Every row of the other model, beside the rows of this query that meet the condition, or nil.
  ///
  /// What the query filters is gone before the join; a `where` after the join filters its rows.
  /// SQLite before 3.39 has no RIGHT JOIN: the tables change sides.
  public func rightJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Root>, Required<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    return Join(start.turned(added, Fields<Root>(), on: condition(Fields(), added)), (Fields(), added))
  }

  /// Every row of this query and of the other model: side by side where they meet the condition, alone where none does.
  ///
  /// What the query filters is gone before the join; a `where` after the join filters its rows.
  /// SQLite before 3.39 has no FULL JOIN: a left join, and then the other side's rows that it left out.
  public func fullJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Root>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Root>, Maybe<Other>> {
    let start = statement.qualified(Root.self)
    let added = start.fields(of: other)
    let match = condition(Fields(), added)
    var both = start.joining(added, "LEFT JOIN", on: match)
    both.arms[0].condition = both.filter
    both.filter = nil
    let key = SQLPart.column(table: Root.schema.table, name: Root.schema.columns[0].name)
    let isAlone = SQLExpression<Bool>([key, .text(" IS NULL")], .comparison)
    both.arms += start.turned(added, Fields<Root>(), on: match).arms.map {
      .init(source: $0.source, condition: isAlone)
    }
    return Join(both, (Fields(), added))
  }
}

extension Model {
  /// Beside each row the rows of another model that meet the condition; rows without any are left out.
  public static func join<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Self>, Required<Other>> { all.join(other, on: condition) }

  /// Beside each row the rows of another model that meet the condition, or nil.
  public static func leftJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Required<Self>, Maybe<Other>> { all.leftJoin(other, on: condition) }

  /// Every row of the other model, beside the rows of this one that meet the condition, or nil.
  public static func rightJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Self>, Required<Other>> { all.rightJoin(other, on: condition) }

  /// Every row of both models: side by side where they meet the condition, alone where none does.
  public static func fullJoin<Other: Model>(
    _ other: Other.Type, on condition: (Fields<Self>, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<Maybe<Self>, Maybe<Other>> { all.fullJoin(other, on: condition) }

  /// Beside each row the rows of two further models that meet the conditions; rows without any are left out.
  public static func join<Second: Model, Third: Model>(
    _ second: Second.Type, on first: (Fields<Self>, Fields<Second>) -> SQLExpression<Bool>,
    _ third: Third.Type, on condition: (Fields<Self>, Fields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> Join<Required<Self>, Required<Second>, Required<Third>> {
    all.join(second, on: first, third, on: condition)
  }

  /// Beside each row the rows of two further models that meet the conditions, or nil for each.
  public static func leftJoin<Second: Model, Third: Model>(
    _ second: Second.Type, on first: (Fields<Self>, Fields<Second>) -> SQLExpression<Bool>,
    _ third: Third.Type, on condition: (Fields<Self>, MaybeFields<Second>, Fields<Third>) -> SQLExpression<Bool>
  ) -> Join<Required<Self>, Maybe<Second>, Maybe<Third>> {
    all.leftJoin(second, on: first, third, on: condition)
  }
}
