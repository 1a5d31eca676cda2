/// The 128-bit name of a replica: one copy of the database.
public struct ReplicaID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let value: Identifier128
  package init(_ value: Identifier128) { self.value = value }

  /// Reads the 32 hexadecimal digits that ``description`` writes; nil for anything else.
  public init?(_ text: String) {
    guard let value = Identifier128(hexadecimal: text) else { return nil }
    self.init(value)
  }

  /// 32 lower-case hexadecimal digits.
  public var description: String { value.hexadecimal }

  /// By the 128 bits, as unsigned number: an order without meaning that is the same everywhere.
  public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}
