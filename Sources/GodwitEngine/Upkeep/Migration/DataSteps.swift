import GodwitBase
import GodwitCore

/// The data steps of migrations, which run from a program or from a file that a person gave, and never from what other
/// replicas have sent.
enum DataSteps {
  /// One that has something to run.
  struct Step {
    let name: String
    let work: DataStepWork

    func run(in transaction: Transaction) throws {
      do {
        switch work {
        case .code(let body): try body(transaction)
        case .sql(let statements):
          for statement in statements { try transaction.execute(statement) }
        }
      } catch let error as GodwitError where error.code == .constraint {
        throw GodwitError(
          .constraint, "the data step \"\(name)\" breaks a constraint: \(error.message)",
          hint:
            "nothing was altered; another replica may have run the step: write what is still to do (INSERT OR IGNORE, WHERE … IS NULL)",
          underlying: error)
      }
    }
  }

  /// The migration's data steps. Throws `needsMigration` for one whose work is not here.
  static func runnable(of migration: Migration) throws -> [Step] {
    try migration.dataSteps().map { step, work in
      guard let work else {
        throw GodwitError(
          .needsMigration,
          "the data step \"\(step.name)\" is \(step.isCode ? "code" : "SQL") of the program, and is known here by its name alone",
          hint: step.isCode
            ? "open the replica with the program that has it"
            : "open the replica with the program that has it, or run the file with the program's migrations: godwit migrate FILE"
        )
      }
      return Step(name: step.name, work: work)
    }
  }
}
