import GodwitBase
import GodwitCore

/// How a program's tables came to be, version by version; or what opening a replica may do without versions.
///
/// ```swift
/// let migrations = Migrations {
///   Migration(1, "notes") {
///     CreateTable("note", [NewColumn("id", UUID.self), NewColumn("title", String.self, default: "")])
///   }
///   Migration(2, "stars") {
///     AddColumn("stars", Int.self, default: 0, to: "note")
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

/// One version of a program's tables: the steps that lead to it from the version before, all or none of them.
public struct Migration: Sendable {
  /// 1 for the first, then 2, 3 …
  public let version: Int
  /// What it is called, for people; it belongs to what the checksum covers.
  public let name: String
  let steps: [any MigrationStep]
  /// Whether it must be one that older programs need not know.
  private(set) var isDeclaredAddition = false

  /// Steps run in order; data steps come last, and see the tables as the migration leaves them.
  ///
  /// - Parameters:
  ///   - version: 1 for the first, then 2, 3 …
  ///   - name: What it is called.
  ///   - steps: The steps.
  public init(_ version: Int, _ name: String, @MigrationBuilder _ steps: () -> [any MigrationStep]) {
    self.version = version
    self.name = name
    self.steps = steps()
  }

  /// A migration that is refused (`invalidMigration`) unless it is an *addition*: all its steps make tables, add
  /// columns that are not made of others, or add indexes that are not unique. Additions travel with sync files, and
  /// older programs continue as before; every other migration is a barrier, and replicas that have not passed it hold
  /// back what is written after it.
  ///
  /// - Parameters:
  ///   - version: 1 for the first, then 2, 3 …
  ///   - name: What it is called.
  ///   - steps: The steps.
  public static func addition(
    _ version: Int, _ name: String, @MigrationBuilder _ steps: () -> [any MigrationStep]
  ) -> Migration {
    var migration = Migration(version, name, steps)
    migration.isDeclaredAddition = true
    return migration
  }

  package init(_ migration: SchemaMigration) {
    version = Int(clamping: migration.version)
    name = migration.name
    steps = migration.steps.map { RecordedStep(draft: MigrationStepDraft($0)) }
  }

  init(_ version: UInt64, _ name: String, _ drafts: [MigrationStepDraft], isAddition: Bool) {
    isDeclaredAddition = isAddition
    self.version = Int(clamping: version)
    self.name = name
    steps = drafts.map(RecordedStep.init)
  }

  /// What its data steps do, in order.
  func dataSteps() throws -> [(step: SchemaStep.DataWork, work: DataStepWork?)] {
    try steps.compactMap { step in
      let draft = try step._draft()
      guard case .data(let data) = draft.step else { return nil }
      return (data, draft.work)
    }
  }

  func schemaMigration() throws -> SchemaMigration {
    let migration = SchemaMigration(
      version: UInt64(clamping: version), name: name, steps: try steps.map { try $0._draft().step })
    try migration.validate()
    if isDeclaredAddition, let step = migration.steps.first(where: { !$0.isAddition }) {
      throw GodwitError(
        .invalidMigration,
        "migration \(version) \"\(name)\" is declared to be an addition, and its step \(step.summary) is none",
        hint: "put the step into a migration of its own, or declare no addition: older programs wait for it then")
    }
    // What is recorded must be readable again, limits and all.
    return try SchemaMigration(bytes: migration.bytes[...])
  }
}

/// A step that comes from a file or another replica.
private struct RecordedStep: MigrationStep {
  let draft: MigrationStepDraft
  func _draft() throws -> MigrationStepDraft { draft }
}

extension Migrations {
  /// Collects migrations.
  @resultBuilder
  public enum Builder {
    /// All in order.
    public static func buildBlock(_ migrations: Migration...) -> [Migration] { migrations }
  }
}

/// Collects the steps of a migration.
@resultBuilder
public enum MigrationBuilder {
  /// All in order.
  public static func buildBlock(_ steps: any MigrationStep...) -> [any MigrationStep] { steps }
}
