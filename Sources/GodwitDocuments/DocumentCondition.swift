import GodwitBase
import GodwitModel

/// What documents are chosen by: `{ $0.price > 3 && $0["tags"].contains("new") }`.
public struct DocumentCondition: Sendable {
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

/// What a condition or an order speaks of.
enum MemberReference: Hashable, Sendable {
  case key
  case member(String)
}

/// The members of a document in a condition, by name: `$0.price`, `$0["price"]`.
@dynamicMemberLookup
public struct DocumentFields: Sendable {
  init() {}

  /// The member of this name.
  public subscript(member: String) -> DocumentField { DocumentField(reference: .member(member)) }
  /// The member of this name.
  public subscript(dynamicMember member: String) -> DocumentField { self[member] }
  /// The document's key. A member that is called so is reached by its name in brackets.
  public var documentKey: DocumentField { DocumentField(reference: .key) }
}

/// One member in a condition. An absent member meets none but `!exists`.
public struct DocumentField: Sendable {
  let reference: MemberReference

  /// Whether the document has it.
  public var exists: DocumentCondition { DocumentCondition(.exists(reference)) }

  /// Whether it is a text with this part, or an array or set with this element.
  public func contains(_ value: some JSONValueConvertible) -> DocumentCondition {
    DocumentCondition(.contains(reference, value.json))
  }

  /// Whether it is one of the values.
  public func isIn(_ values: [some JSONValueConvertible]) -> DocumentCondition {
    DocumentCondition(.isIn(reference, values.map(\.json)))
  }

  /// Whether it is there and is the value.
  public static func == (field: Self, value: some JSONValueConvertible) -> DocumentCondition {
    field.compare(.equal, value)
  }
  /// Whether it is there and is another value.
  public static func != (field: Self, value: some JSONValueConvertible) -> DocumentCondition {
    field.compare(.notEqual, value)
  }
  /// Whether it is of the value's kind and less.
  public static func < (field: Self, value: some JSONValueConvertible) -> DocumentCondition {
    field.compare(.less, value)
  }
  /// Whether it is of the value's kind and not greater.
  public static func <= (field: Self, value: some JSONValueConvertible) -> DocumentCondition {
    field.compare(.lessOrEqual, value)
  }
  /// Whether it is of the value's kind and greater.
  public static func > (field: Self, value: some JSONValueConvertible) -> DocumentCondition {
    field.compare(.greater, value)
  }
  /// Whether it is of the value's kind and not less.
  public static func >= (field: Self, value: some JSONValueConvertible) -> DocumentCondition {
    field.compare(.greaterOrEqual, value)
  }

  private func compare(_ comparison: DocumentCondition.Comparison, _ value: some JSONValueConvertible)
    -> DocumentCondition
  {
    DocumentCondition(.compare(reference, comparison, value.json))
  }
}
