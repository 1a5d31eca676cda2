import GodwitBase
import GodwitCore
import GodwitStorage
import GodwitSyncFile

/// Keeping the hash of the state outside of the database, so that pages which are put back together with their sums are
/// found, too (Specs/state-hash.md, "Anchor").
extension WriterAnchor {
  /// Compares what the tables hold with what was noted of the same history. Costs nothing but a comparison of hashes
  /// while both are the same.
  func checkState(_ anchor: Anchor) throws {
    guard let noted = anchor.state, noted.state.hash != memory.tally.state, anchor.alteredAt == 0,
      try AnchoredState.chains(of: memory.log) == noted.chains,
      try present().contradicts(noted.state)
    else { return }
    try file.locked {
      var altered = anchor
      altered.alteredAt = max(1, wallClock.milliseconds())
      try file.write(altered, isDurable: true)
    }
    hasFoundAlteration = true
  }

  /// Notes what the tables hold, if this opening has written anything. Where that fails, and where the process is
  /// killed before, the next opening has an earlier state to compare with, which is of another history and shows
  /// nothing.
  package func noteState() {
    guard isStateKnown else { return }
    try? file.locked {
      guard case .anchor(var anchor) = try file.read(), anchor.nonces.contains(memory.nonce),
        anchor.incarnation == memory.log.origins.own.incarnation
      else { return }
      let state = try AnchoredState(present(), of: memory.log)
      guard anchor.state != state else { return }
      anchor.state = state
      try file.write(anchor, isDurable: false)
    }
  }

  private func present() throws -> StatedState {
    try StatedState.present(memory.tally.state, connection, memory.catalog)
  }
}
