import GodwitBase
import GodwitCore

/// How a program's tables came to be, version by version; or what opening a replica may do without versions.
///
/// ```swift
/// let migrations = Migrations {
///   Migration(1, "notes") {
///     $0.create("note") {
///       $0.column("id", UUID.self)
///       $0.column("title", String.self, default: "")
///     }
///   }
///   Migration(2, "stars") {
///     $0.alter("note") { $0.add("stars", Int.self, default: 0) }
///   }
/// }
/// ```
///
/// Versions count 1, 2, 3 … A migration that has been released is never changed again: its checksum is recorded, and
/// replicas that ran different ones under one number refuse each other's files.
public struct Migrations: Sendable {
  let addsMissing: Bool
  let all: [Migration]

  private init(addsMissing: Bool) {
    self.addsMissing = addsMissing
    all = []
  }

  /// The migrations of a list, in their order.
  public init(_ all: [Migration]) {
    addsMissing = false
    self.all = all
  }

  /// The migrations in their order.
  public init(@Migrations.Builder _ content: () -> [Migration]) { self.init(content()) }

  /// Nothing: missing tables are made, and a table that differs is `schemaMismatch`.
  public static let none = Migrations(addsMissing: false)

  /// Adds missing columns and indexes, and nothing else: no row, column or type is ever changed or taken away. A
  /// column that the model no longer has stays.
  ///
  /// Old rows read a new column as its default; one that is not optional needs a constant one, and one that refers
  /// to another table is optional. One with a merge policy starts neutral: at 0, as the empty set, as NULL. Other
  /// replicas get the column with the next file.
  public static func addMissing() -> Migrations { Migrations(addsMissing: true) }

  /// The migrations up to and including a version: what an older program had.
  public func through(_ version: Int) -> Migrations { Migrations(Array(all.prefix(max(0, version)))) }

  /// Whether tables have versions here.
  var isVersioned: Bool { !all.isEmpty }

  /// The migrations as data, checked as far as that goes without tables.
  package func schemaMigrations() throws -> [SchemaMigration] {
    for (place, migration) in all.enumerated() where migration.version != place + 1 {
      throw GodwitError(
        .invalidMigration, "migration \"\(migration.name)\" has number \(migration.version) in place \(place + 1)",
        hint: "number them 1, 2, 3 … without a gap")
    }
    guard all.count <= SchemaMigration.versionLimit else {
      throw GodwitError(.invalidMigration, "there are more than \(SchemaMigration.versionLimit) migrations")
    }
    return try all.map { try $0.schemaMigration() }
  }
}

extension Migrations {
  /// Collects migrations, in the order they are written.
  @resultBuilder
  public enum Builder {
    /// One migration.
    public static func buildExpression(_ migration: Migration) -> [Migration] { [migration] }
    /// All in order.
    public static func buildBlock(_ parts: [Migration]...) -> [Migration] { parts.flatMap(\.self) }
    /// Those of an `if`, where it holds.
    public static func buildOptional(_ part: [Migration]?) -> [Migration] { part ?? [] }
    /// Those of an `if` that holds.
    public static func buildEither(first part: [Migration]) -> [Migration] { part }
    /// Those of its `else`.
    public static func buildEither(second part: [Migration]) -> [Migration] { part }
    /// Those of each turn of a `for`.
    public static func buildArray(_ parts: [[Migration]]) -> [Migration] { parts.flatMap(\.self) }
  }
}
