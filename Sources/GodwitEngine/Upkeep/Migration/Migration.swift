import GodwitBase
import GodwitCore

/// One version of a program's tables: the steps that lead to it from the version before, all or none of them.
public struct Migration: Sendable {
  /// 1 for the first, then 2, 3 …
  public let version: Int
  /// What it is called, for people; it belongs to what the checksum covers.
  public let name: String
  let steps: [@Sendable () throws -> StepDraft]
  /// Whether it must be one that older programs need not know.
  private(set) var isDeclaredAddition = false

  /// Steps run in order; data steps come last, and see the tables as the migration leaves them.
  ///
  /// - Parameters:
  ///   - version: 1 for the first, then 2, 3 …
  ///   - name: What it is called.
  ///   - steps: Calls the steps one after another.
  public init(_ version: Int, _ name: String, _ steps: (inout Steps) -> Void) {
    self.version = version
    self.name = name
    var collected = Steps()
    steps(&collected)
    self.steps = collected.drafts
  }

  /// A migration that is refused (`invalidMigration`) unless it is an *addition*: all its steps make tables, add
  /// columns that are not made of others, or add indexes that are not unique. Additions travel with sync files, and
  /// older programs continue as before; every other migration is a barrier, and replicas that have not passed it hold
  /// back what is written after it.
  ///
  /// - Parameters:
  ///   - version: 1 for the first, then 2, 3 …
  ///   - name: What it is called.
  ///   - steps: Calls the steps one after another.
  public static func addition(
    _ version: Int, _ name: String, _ steps: (inout Steps) -> Void
  ) -> Migration {
    var migration = Migration(version, name, steps)
    migration.isDeclaredAddition = true
    return migration
  }

  package init(_ migration: SchemaMigration) {
    version = Int(clamping: migration.version)
    name = migration.name
    steps = migration.steps.map { step in
      let draft = StepDraft(step)
      return { draft }
    }
  }

  init(_ version: UInt64, _ name: String, _ drafts: [StepDraft], isAddition: Bool) {
    isDeclaredAddition = isAddition
    self.version = Int(clamping: version)
    self.name = name
    steps = drafts.map { draft in { draft } }
  }

  /// What its data steps do, in order.
  func dataSteps() throws -> [(step: SchemaStep.DataWork, work: DataStepWork?)] {
    try steps.compactMap { step in
      let draft = try step()
      guard case .data(let data) = draft.step else { return nil }
      return (data, draft.work)
    }
  }

  func schemaMigration() throws -> SchemaMigration {
    let migration = SchemaMigration(
      version: UInt64(clamping: version), name: name, steps: try steps.map { try $0().step })
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
