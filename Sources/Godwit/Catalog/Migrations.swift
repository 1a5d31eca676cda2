/// What opening a replica may do to tables that differ from their models.
public struct Migrations: Sendable, Hashable {
  let addsMissing: Bool

  /// Nothing: missing tables are made, and a table that differs is `schemaMismatch`.
  public static let none = Migrations(addsMissing: false)

  /// Adds missing columns and indexes, and nothing else: no row, column or type is ever changed or taken away. A
  /// column that the model no longer has stays.
  ///
  /// Old rows read a new column as its default; one that is not optional needs a constant one, and one that refers
  /// to another table is optional. Other replicas must add the column too before they take in rows that have it;
  /// until then they refuse the file as `needsMigration`.
  public static func addMissing() -> Migrations { Migrations(addsMissing: true) }
}
