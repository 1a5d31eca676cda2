// `$0.title.count > 3` names the method that counts rows, and compares it with a number. These say what to write.

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func < (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() < right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func <= (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() <= right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func > (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() > right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func >= (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() >= right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func == (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() == right }

/// Not available: the length of a text is `length`, and `count()` counts rows.
@available(*, unavailable, message: "the length of a text is length; count() counts the rows that hold a value")
public func != (left: () -> SQLExpression<Int>, right: Int) -> SQLExpression<Bool> { left() != right }
