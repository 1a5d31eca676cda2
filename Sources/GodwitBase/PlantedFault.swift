#if DEBUG || GODWIT_PLANT
  import Foundation

  /// Mistakes that a debug build, or one with `-D GODWIT_PLANT`, makes on purpose when it is asked to, to show that the
  /// simulator finds them (Specs/simulation.md, "Planted faults"). A release build has no trace of them.
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

    /// What the environment variable `GODWIT_PLANT` says.
    private static let name = ProcessInfo.processInfo.environment["GODWIT_PLANT"]
    /// The one that it names.
    package static let active = name.flatMap(Self.init(rawValue:))
    /// What it names that is no fault: then nothing is planted, and a clean run shows nothing.
    package static var unknownName: String? { active == nil ? name : nil }

    package var isPlanted: Bool { Self.active == self }
  }
#endif
