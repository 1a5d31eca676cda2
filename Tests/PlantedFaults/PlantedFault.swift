import Foundation

/// Mistakes that a planted build makes on purpose, to show that the simulator finds them (Specs/simulation.md, "Planted
/// faults"). `Tools/plant-faults` copies this file into GodwitBase of a copy of the sources; the product has none of
/// it.
package enum PlantedFault: String, CaseIterable, Sendable {
  case ignoreTieBreak = "ignore-tie-break"
  case restampOnReceipt = "restamp-on-receipt"
  case reuseSequence = "reuse-sequence"
  case forgetTombstoneEarly = "forget-tombstone-early"
  case skipFold = "skip-fold"
  case dropDeletedCells = "drop-deleted-cells"
  case acceptGap = "accept-gap"
  case logDerivedEffect = "log-derived-effect"
  case loseCounterDelta = "lose-counter-delta"
  case followFutureClock = "follow-future-clock"
  case believeRelay = "believe-relay"
  case adoptBarrier = "adopt-barrier"
  case acknowledgeHeld = "acknowledge-held"
  case deriveForWhoKnew = "derive-for-who-knew"
  case carryTwice = "carry-twice"
  case replaceUnlisted = "replace-unlisted"
  case claimByCount = "claim-by-count"
  case storeReuseNumber = "store-reuse-number"
  case storeForgetOnUpload = "store-forget-on-upload"
  case storeDropState = "store-drop-state"
  case storeOldEpoch = "store-old-epoch"

  /// The one that the environment variable `GODWIT_PLANT` names.
  private static let active = ProcessInfo.processInfo.environment["GODWIT_PLANT"].flatMap(Self.init(rawValue:))

  package var isPlanted: Bool { Self.active == self }
}
