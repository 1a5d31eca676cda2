import Foundation

/// A type with values that amount to nothing, which `.presence` refuses.
public protocol Presence {
  /// Whether the value is more than nothing.
  var isPresent: Bool { get }
}

extension String: Presence {
  /// Whether there is anything but whitespace.
  public var isPresent: Bool { !allSatisfy(\.isWhitespace) }
}

extension Optional: Presence {
  /// Whether there is a value, and that is present in turn.
  public var isPresent: Bool {
    guard let self else { return false }
    return (self as? any Presence)?.isPresent ?? true
  }
}

extension Array: Presence {
  /// Whether there is an element.
  public var isPresent: Bool { !isEmpty }
}

extension Set: Presence {
  /// Whether there is an element.
  public var isPresent: Bool { !isEmpty }
}

extension Dictionary: Presence {
  /// Whether there is a pair.
  public var isPresent: Bool { !isEmpty }
}

extension Data: Presence {
  /// Whether there is a byte.
  public var isPresent: Bool { !isEmpty }
}
