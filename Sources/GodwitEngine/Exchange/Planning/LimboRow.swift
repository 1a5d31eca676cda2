import GodwitBase
import GodwitModel

/// A row that its table does not show, or not whole: a rule of the schema holds it back until others change. Nothing of
/// it is gone, and it is released by itself.
public struct LimboRow: Sendable {
  /// Why a row is held back.
  public enum Kind: Sendable, Hashable {
    /// Another row holds the value of a unique index: whose key is less (Specs/merge.md).
    case uniqueValue(columns: [String], values: [Value], holder: [Value])
    /// The row that a column refers to is not shown: deleted, in limbo itself, or not here yet.
    case missingParent(column: String, table: String, key: Value)
    /// A reference that would close a circle.
    case circle(column: String)
    /// It breaks another constraint of this replica, which its author did not have.
    case constraint
  }

  /// A reason, with the write that gave rise to it.
  public struct Reason: Sendable, Hashable {
    /// Why the row is held back.
    public let kind: Kind
    /// Who wrote what cannot be shown; nil when the write is older than all that is remembered.
    public let author: Authorship?
  }

  /// The row's table.
  public let table: String
  /// The row's primary key.
  public let key: [Value]
  /// The columns beside the key and what they really hold.
  public let values: Row
  /// Whether the table shows the row, with NULL in place of the ``hiddenReferences``.
  public let isShown: Bool
  /// The references that show NULL.
  public let hiddenReferences: [String]
  /// All that holds it back.
  public let reasons: [Reason]
}
