import CSQLCipher
import GodwitBase

/// What a failing statement throws.
extension Connection {
  /// What a statement failed with that ran. A check or rule that comes to no result, as `abs(-9223372036854775808)`
  /// does, takes no value: that is `constraint`, and no fault of the statement.
  func runningFailure(_ code: Int32, sql: String, _ authority: Authority, isReading: Bool) -> any Error {
    let hasNoResult =
      code & 0xFF == SQLITE_TOOBIG
      || code & 0xFF == SQLITE_ERROR && sqlite3_errmsg(handle).map { String(cString: $0) } == "integer overflow"
    let isJudged = authority == .expression || authority == .trusted && !isReading
    guard isJudged, hasNoResult, functionFailure.error == nil else { return failure(code, sql: sql) }
    return GodwitError(
      .constraint, "CHECK constraint failed: an expression has no result for the value", hint: "nothing was written")
  }

  func failure(_ code: Int32, sql: String? = nil) -> any Error {
    if code & 0xFF == SQLITE_INTERRUPT { return stepBudget?.excess ?? CancellationError() }
    if let error = functionFailure.take() { return error }
    return GodwitError.sqlite(code, handle, sql: sql)
  }
}
