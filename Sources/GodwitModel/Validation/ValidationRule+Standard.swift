import GodwitBase
import Synchronization

extension ValidationRule where Property: Presence & SendableMetatype {
  /// Not nil, not empty, and not only whitespace.
  public static var presence: Self { Self("must not be empty") { $0.isPresent } }
}

// Length, in characters or elements.
extension ValidationRule {
  /// As many characters or elements as the range allows.
  public static func length<Bounds: RangeExpression<Int> & Sendable>(_ bounds: Bounds) -> Self
  where Property: Collection & SendableMetatype {
    Self("must have a length in \(describe(bounds))") { bounds.contains($0.count) }
  }

  /// As many characters or elements as the range allows; nil passes.
  public static func length<Wrapped: Collection & SendableMetatype, Bounds: RangeExpression<Int> & Sendable>(
    _ bounds: Bounds
  ) -> Self
  where Property == Wrapped? {
    .ifPresent(.length(bounds))
  }
}

extension ValidationRule {
  /// Within the range.
  public static func range<Bounds: RangeExpression<Property> & Sendable>(_ bounds: Bounds) -> Self
  where Property: SendableMetatype {
    Self("must be in \(describe(bounds))") { bounds.contains($0) }
  }

  /// Within the range; nil passes.
  public static func range<Wrapped: SendableMetatype, Bounds: RangeExpression<Wrapped> & Sendable>(
    _ bounds: Bounds
  ) -> Self
  where Property == Wrapped? {
    .ifPresent(.range(bounds))
  }

  /// The declared bounds as they are written in Swift.
  private static func describe<Bounds: RangeExpression>(_ bounds: Bounds) -> String {
    switch bounds {
    case let bounds as PartialRangeFrom<Bounds.Bound>: "\(bounds.lowerBound)..."
    case let bounds as PartialRangeThrough<Bounds.Bound>: "...\(bounds.upperBound)"
    case let bounds as PartialRangeUpTo<Bounds.Bound>: "..<\(bounds.upperBound)"
    default: "\(bounds)"
    }
  }
}

extension ValidationRule {
  /// One of the values.
  public static func inclusion(_ allowed: [Property]) -> Self where Property: Equatable & Sendable {
    Self("is not one of the allowed values") { allowed.contains($0) }
  }

  /// One of the values; nil passes.
  public static func inclusion<Wrapped: Equatable & Sendable>(_ allowed: [Wrapped]) -> Self
  where Property == Wrapped? {
    .ifPresent(.inclusion(allowed))
  }
}

// Text.
extension ValidationRule {
  /// Fits the regular expression, from the first character to the last. One that does not compile is `invalidSchema`
  /// when the replica opens.
  public static func matches(_ expression: String) -> Self where Property == String {
    do {
      let pattern = try Pattern(expression)
      return Self("does not have the right form") { pattern.fits($0) }
    } catch {
      return Self(
        .malformed(
          GodwitError(.invalidSchema, "a regular expression of a rule does not compile", underlying: error)))
    }
  }

  /// Fits the regular expression, from the first character to the last; nil passes.
  public static func matches(_ expression: String) -> Self where Property == String? {
    .ifPresent(.matches(expression))
  }
}

extension ValidationRule where Root: Model, Property: ColumnValue {
  /// No other row has the value; nil never collides.
  ///
  /// One query for each row written: give the column an index. It holds within this replica; two replicas may each
  /// accept the same value before they meet.
  public static var uniqueness: Self { Self(.uniqueness(scope: [])) }

  /// No other row has the value among those whose properties in the scope equal this one's, nil equal to nil.
  public static func uniqueness(scope: (PartialKeyPath<Root> & Sendable)...) -> Self { Self(.uniqueness(scope: scope)) }
}

/// A compiled regular expression. Regex is not Sendable; models are validated on the threads of readers and writer.
private final class Pattern: Sendable {
  private let regex: Mutex<Regex<AnyRegexOutput>>

  init(_ expression: String) throws { regex = Mutex(try Regex(expression)) }

  func fits(_ text: String) -> Bool { regex.withLock { (try? $0.wholeMatch(in: text)) != nil } }
}
