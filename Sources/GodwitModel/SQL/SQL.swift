import GodwitBase

/// SQL text with bound values. Interpolation binds a value, it never splices text:
///
/// ```swift
/// let rows = try reader.rows("SELECT title FROM note WHERE views > \(3)")
/// ```
public struct SQL: Sendable, ExpressibleByStringInterpolation {
  /// The text, with `?` where a value is bound.
  public private(set) var text: String
  /// The values, in the order of the `?`.
  public private(set) var values: [Value]
  package private(set) var failure: GodwitError?

  /// Text with `?` places and their values.
  public init(text: String, values: [Value] = []) {
    self.text = text
    self.values = values
  }

  /// Puts text around it. It may end with a semicolon, or with a comment.
  mutating func enclose(_ start: String, _ end: String) {
    var inner = text[...]
    while let last = inner.last, last == ";" || last.isWhitespace { inner.removeLast() }
    text = "\(start)\(inner)\n\(end)"
  }

  /// Text without values.
  public init(stringLiteral text: String) { self.init(text: text) }

  /// Text with interpolated values.
  public init(stringInterpolation: StringInterpolation) {
    self.init(text: stringInterpolation.text, values: stringInterpolation.values)
    failure = stringInterpolation.failure
  }

  /// Collects text and values.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""
    fileprivate var values: [Value] = []
    fileprivate var failure: GodwitError?

    /// Makes room.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount)
      values.reserveCapacity(interpolationCount)
    }

    /// Adds SQL text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Binds a value.
    public mutating func appendInterpolation(_ value: some ColumnValue) {
      text += "?"
      do {
        values.append(try value.storedValue())
      } catch {
        failure =
          failure ?? (error as? GodwitError)
          ?? GodwitError(.valueNotStorable, "a value cannot be stored", underlying: error)
      }
    }

    /// Binds a value of any storage class.
    public mutating func appendInterpolation(_ value: Value) {
      text += "?"
      values.append(value)
    }

    /// Inserts a part with its values, such as the SELECT of a request: `"… FROM (\(request.sql))"`.
    public mutating func appendInterpolation(_ part: SQL) {
      text += part.text
      values += part.values
      failure = failure ?? part.failure
    }

    /// Inserts a table or column name, quoted.
    public mutating func appendInterpolation(name: String) { text += SQLName.column(name) }
  }
}
