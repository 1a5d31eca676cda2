import CSQLCipher
import GodwitBase

/// How many steps of SQLite's machine statements may take together: for databases that somebody else made.
final class StepBudget {
  /// How often SQLite asks: what one question costs is lost among so many steps.
  fileprivate static let stride = 1_000
  private let limit: Int
  private var taken = 0

  fileprivate init(_ limit: Int) { self.limit = limit }

  fileprivate func take() -> Bool {
    taken += Self.stride
    return taken <= limit
  }

  /// The error, once the budget is spent.
  var excess: GodwitError? {
    guard taken > limit else { return nil }
    return GodwitError(
      .limitExceeded, "reading the database takes more than \(limit) steps of SQLite, which is beyond its size",
      hint: "it may be damaged, or made to do harm: copy what is wanted into a new database with the program it is of")
  }
}

extension Connection {
  /// Runs the body, in which all statements of this connection together may take so many steps. Throws `limitExceeded`.
  package func withStepBudget<Result>(_ limit: Int, _ body: () throws -> Result) throws -> Result {
    let budget = StepBudget(limit)
    stepBudget = budget
    sqlite3_progress_handler(
      handle, Int32(StepBudget.stride),
      { context in
        guard let context else { return 0 }
        return Unmanaged<StepBudget>.fromOpaque(context).takeUnretainedValue().take() ? 0 : 1
      }, Unmanaged.passUnretained(budget).toOpaque())
    defer {
      watchCancellation()
      stepBudget = nil
    }
    return try body()
  }
}
