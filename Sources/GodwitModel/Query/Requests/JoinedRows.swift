import GodwitBase

/// A join of two models and more, which can be joined with another one: inner and left joins in any order, of up to
/// five models.
///
/// ```swift
/// let rows = Book.join(Author.self) { $0.author == $1.id }
///   .leftJoin(Genre.self) { book, author, genre in book.genre == genre.id }
/// ```
///
/// A protocol, because Swift does not infer a parameter pack from a chain of calls, and infers these.
public protocol JoinedRows: Sendable {}

extension Join: JoinedRows {}

extension JoinedRows {
  /// Beside each row the rows of one more model that meet the condition; rows without any are left out.
  public func join<First: JoinPlace, Second: JoinPlace, Other: Model>(
    _ other: Other.Type,
    on condition: (First.Columns, Second.Columns, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<First, Second, Required<Other>> where Self == Join<First, Second> {
    let (first, second) = self.fields
    let added = self.statement.fields(of: other)
    return self.adding(Required<Other>.self, "JOIN", added, on: condition(first, second, added))
  }

  /// Beside each row the rows of one more model that meet the condition, or nil. Its fields are optional from the next
  /// call on.
  public func leftJoin<First: JoinPlace, Second: JoinPlace, Other: Model>(
    _ other: Other.Type,
    on condition: (First.Columns, Second.Columns, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<First, Second, Maybe<Other>> where Self == Join<First, Second> {
    let (first, second) = self.fields
    let added = self.statement.fields(of: other)
    return self.adding(Maybe<Other>.self, "LEFT JOIN", added, on: condition(first, second, added))
  }

  /// Beside each row the rows of one more model that meet the condition; rows without any are left out.
  public func join<First: JoinPlace, Second: JoinPlace, Third: JoinPlace, Other: Model>(
    _ other: Other.Type,
    on condition: (First.Columns, Second.Columns, Third.Columns, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<First, Second, Third, Required<Other>> where Self == Join<First, Second, Third> {
    let (first, second, third) = self.fields
    let added = self.statement.fields(of: other)
    return self.adding(Required<Other>.self, "JOIN", added, on: condition(first, second, third, added))
  }

  /// Beside each row the rows of one more model that meet the condition, or nil. Its fields are optional from the next
  /// call on.
  public func leftJoin<First: JoinPlace, Second: JoinPlace, Third: JoinPlace, Other: Model>(
    _ other: Other.Type,
    on condition: (First.Columns, Second.Columns, Third.Columns, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<First, Second, Third, Maybe<Other>> where Self == Join<First, Second, Third> {
    let (first, second, third) = self.fields
    let added = self.statement.fields(of: other)
    return self.adding(Maybe<Other>.self, "LEFT JOIN", added, on: condition(first, second, third, added))
  }

  /// Beside each row the rows of one more model that meet the condition; rows without any are left out.
  public func join<First: JoinPlace, Second: JoinPlace, Third: JoinPlace, Fourth: JoinPlace, Other: Model>(
    _ other: Other.Type,
    on condition: (First.Columns, Second.Columns, Third.Columns, Fourth.Columns, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<First, Second, Third, Fourth, Required<Other>> where Self == Join<First, Second, Third, Fourth> {
    let (first, second, third, fourth) = self.fields
    let added = self.statement.fields(of: other)
    return self.adding(Required<Other>.self, "JOIN", added, on: condition(first, second, third, fourth, added))
  }

  /// Beside each row the rows of one more model that meet the condition, or nil. Its fields are optional from the next
  /// call on.
  public func leftJoin<First: JoinPlace, Second: JoinPlace, Third: JoinPlace, Fourth: JoinPlace, Other: Model>(
    _ other: Other.Type,
    on condition: (First.Columns, Second.Columns, Third.Columns, Fourth.Columns, Fields<Other>) -> SQLExpression<Bool>
  ) -> Join<First, Second, Third, Fourth, Maybe<Other>> where Self == Join<First, Second, Third, Fourth> {
    let (first, second, third, fourth) = self.fields
    let added = self.statement.fields(of: other)
    return self.adding(Maybe<Other>.self, "LEFT JOIN", added, on: condition(first, second, third, fourth, added))
  }
}
