/// The 128-bit name of a group: the replicas that sync together.
public struct GroupID: Hashable, Sendable, CustomStringConvertible {
  package let value: Identifier128
  package init(_ value: Identifier128) { self.value = value }

  /// 32 lower-case hexadecimal digits.
  public var description: String { value.hexadecimal }
}
