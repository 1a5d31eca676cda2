import GodwitBase
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Keeping the hash of the state outside of the database, so that pages which are put back together with their sums are
/// found, too (Specs/state-hash.md, "Anchor").
extension ReplicaWriter {
  /// Compares what the tables hold with what was noted of the same history. Costs nothing but a comparison of hashes
  /// while both are the same.
  func checkState(_ anchor: Anchor) throws {
    guard let noted = anchor.state, noted.state.hash != tally.state, anchor.alteredAt == 0,
      try AnchoredState.chains(of: log) == noted.chains,
      try StatedState.present(tally.state, connection, catalog).contradicts(noted.state)
    else { return }
    try anchorFile.locked {
      var altered = anchor
      altered.alteredAt = max(1, wallClock.milliseconds())
      try anchorFile.write(altered, isDurable: true)
    }
    hasFoundAlteration = true
  }

  /// Notes what the tables hold, if this opening has written anything. Where that fails, and where the process is
  /// killed before, the next opening has an earlier state to compare with, which is of another history and shows
  /// nothing.
  package func noteState() {
    guard isStateKnown else { return }
    try? anchorFile.locked {
      guard case .anchor(var anchor) = try anchorFile.read(), anchor.nonces.contains(nonce),
        anchor.incarnation == log.origins.own.incarnation
      else { return }
      let state = try AnchoredState(StatedState.present(tally.state, connection, catalog), of: log)
      guard anchor.state != state else { return }
      anchor.state = state
      try anchorFile.write(anchor, isDurable: false)
    }
  }
}
