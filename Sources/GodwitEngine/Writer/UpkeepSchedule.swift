import GodwitBase

/// When a writer's replica is to be cared for beside its writes.
struct UpkeepSchedule {
  private var writesSinceForgetting = 0
  private var nextSweep: Int64 = 0
  /// Seldom enough that no writer notices.
  private static let writesBetweenForgetting = 1_024
  private static let sweepIntervalMilliseconds: Int64 = 60_000

  mutating func hasWritten() { writesSinceForgetting += 1 }

  /// Whether so much has been written since the last time that a replica without other members should forget it.
  mutating func isForgettingDue() -> Bool {
    guard writesSinceForgetting >= Self.writesBetweenForgetting else { return false }
    writesSinceForgetting = 0
    return true
  }

  /// Whether expired documents have not been looked for lately.
  mutating func isSweepDue(at milliseconds: Int64) -> Bool {
    // A clock that was set back is no reason to wait for long.
    guard milliseconds >= nextSweep || milliseconds < nextSweep - Self.sweepIntervalMilliseconds else { return false }
    nextSweep = milliseconds + Self.sweepIntervalMilliseconds
    return true
  }
}
