import GodwitBase

/// Two columns that Godwit fills by the replica's clock: when a row was inserted, and when it last changed.
///
/// ```swift
/// static let schema = Schema<Self>("note") {
///   Column("title", \.title)
///   Timestamps(created: \.created, updated: \.updated)
/// }
/// ```
///
/// `insert` fills both, whatever the model holds; `update` and `save` set `updated` when another column differs, and
/// write nothing when none does. SQL of the program's own and imported changes fill neither. A table that gains the
/// columns later has 1970 in its old rows.
public struct Timestamps<Root: Model>: Sendable {
  package let columns: [Column<Root>]
  private let created: WritableKeyPath<Root, Timestamp> & Sendable
  private let updated: WritableKeyPath<Root, Timestamp> & Sendable

  /// Columns for both properties.
  public init(
    created: WritableKeyPath<Root, Timestamp> & Sendable, updated: WritableKeyPath<Root, Timestamp> & Sendable,
    createdColumn: String = "created_at", updatedColumn: String = "updated_at"
  ) {
    self.created = created
    self.updated = updated
    let unknown = Timestamp(milliseconds: 0)
    columns = [
      Column(createdColumn, created).default(unknown), Column(updatedColumn, updated).default(unknown),
    ]
  }

  func fill(_ model: inout Root, at now: Timestamp) {
    model[keyPath: created] = now
    model[keyPath: updated] = now
  }

  /// Brings what is stored into the model.
  func set(_ model: inout Root, created: Value, updated: Value) throws {
    guard case .integer(let created) = created, case .integer(let updated) = updated else {
      throw GodwitError(.valueMismatch, "a timestamp of table \(Root.schema.table) is no INTEGER")
    }
    model[keyPath: self.created] = Timestamp(milliseconds: created)
    model[keyPath: self.updated] = Timestamp(milliseconds: updated)
  }
}
