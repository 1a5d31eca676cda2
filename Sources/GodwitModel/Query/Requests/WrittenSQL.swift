import Synchronization

/// What a request was written as, once it was: one that is kept and run again is not written again. Each change of a
/// request makes another one.
final class WrittenSQL: Sendable {
  private let written = Mutex<SQL?>(nil)

  /// The SQL, written by the body when it is asked for the first time. What fails is tried anew.
  func sql(_ write: () throws -> SQL) rethrows -> SQL {
    if let sql = written.withLock({ $0 }) { return sql }
    let sql = try write()
    written.withLock { $0 = sql }
    return sql
  }
}
