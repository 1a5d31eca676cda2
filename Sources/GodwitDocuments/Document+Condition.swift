import GodwitBase
import GodwitModel

extension Document {
  /// What documents are chosen by: `{ $0.price > 3 && $0["tags"].contains("new") }`.
  public struct Condition: Sendable {
    enum Comparison: String, Sendable {
      case equal = "="
      case notEqual = "<>"
      case less = "<"
      case lessOrEqual = "<="
      case greater = ">"
      case greaterOrEqual = ">="
    }

    indirect enum Node: Sendable {
      case compare(MemberReference, Comparison, JSON)
      case contains(MemberReference, JSON)
      case isIn(MemberReference, [JSON])
      case exists(MemberReference)
      case not(Node)
      case and(Node, Node)
      case or(Node, Node)
    }

    let node: Node

    init(_ node: Node) { self.node = node }

    /// Both.
    public static func && (left: Self, right: Self) -> Self { Self(.and(left.node, right.node)) }
    /// One at least.
    public static func || (left: Self, right: Self) -> Self { Self(.or(left.node, right.node)) }
    /// The opposite.
    public static prefix func ! (condition: Self) -> Self { Self(.not(condition.node)) }
  }
}

/// What a condition or an order speaks of.
enum MemberReference: Hashable, Sendable {
  case key
  case member(String)
}

extension Document {
  /// The members of a document in a condition, by name: `$0.price`, `$0["price"]`.
  @dynamicMemberLookup
  public struct Fields: Sendable {
    init() {}

    /// The member of this name.
    public subscript(member: String) -> Document.Field { Document.Field(reference: .member(member)) }
    /// The member of this name.
    public subscript(dynamicMember member: String) -> Document.Field { self[member] }
    /// The document's key. A member that is called so is reached by its name in brackets.
    public var documentKey: Document.Field { Document.Field(reference: .key) }
  }
}

extension Document {
  /// One member in a condition. An absent member meets none but `!exists`.
  public struct Field: Sendable {
    let reference: MemberReference

    /// Whether the document has it.
    public var exists: Document.Condition { Document.Condition(.exists(reference)) }

    /// Whether it is a text with this part, or an array or set with this element.
    public func contains(_ value: some JSONValueConvertible) -> Document.Condition {
      Document.Condition(.contains(reference, value.json))
    }

    /// Whether it is one of the values.
    public func isIn(_ values: [some JSONValueConvertible]) -> Document.Condition {
      Document.Condition(.isIn(reference, values.map(\.json)))
    }

    /// Whether it is there and is the value; of null, and of an optional that is nil, whether it is not there.
    public static func == (field: Self, value: some JSONValueConvertible) -> Document.Condition {
      field.compare(.equal, value)
    }
    /// Whether it is there and is another value.
    public static func != (field: Self, value: some JSONValueConvertible) -> Document.Condition {
      field.compare(.notEqual, value)
    }
    /// Whether it is of the value's kind and less.
    public static func < (field: Self, value: some JSONValueConvertible) -> Document.Condition {
      field.compare(.less, value)
    }
    /// Whether it is of the value's kind and not greater.
    public static func <= (field: Self, value: some JSONValueConvertible) -> Document.Condition {
      field.compare(.lessOrEqual, value)
    }
    /// Whether it is of the value's kind and greater.
    public static func > (field: Self, value: some JSONValueConvertible) -> Document.Condition {
      field.compare(.greater, value)
    }
    /// Whether it is of the value's kind and not less.
    public static func >= (field: Self, value: some JSONValueConvertible) -> Document.Condition {
      field.compare(.greaterOrEqual, value)
    }

    private func compare(_ comparison: Document.Condition.Comparison, _ value: some JSONValueConvertible)
      -> Document.Condition
    {
      Document.Condition(.compare(reference, comparison, value.json))
    }
  }
}
