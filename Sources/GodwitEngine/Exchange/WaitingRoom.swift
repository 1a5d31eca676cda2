import GodwitBase
import GodwitCore
import GodwitStorage

/// Keeps what an import cannot apply yet, within bounds (Specs/merge.md, "Waiting").
final class WaitingRoom {
  private let staged: StagedTransactions
  private let roster: Roster
  /// Whose file it is: what its author sends itself is tried again, also when it was set aside.
  private let sender: ReplicaID
  /// What waits; nil until it is asked for.
  private var tally: Tally?
  /// The last one of each origin that this import has kept.
  private var lasts: [Origin: SequenceNumber] = [:]
  /// What it did not keep, or had to drop.
  private var dropped: [Origin: MergeReport.Dropped] = [:]

  init(_ connection: Connection, _ roster: Roster, sender: ReplicaID) {
    staged = StagedTransactions(connection: connection)
    self.roster = roster
    self.sender = sender
  }

  /// What was not kept, in the order of origins.
  var notKept: [MergeReport.Dropped] { dropped.sorted { $0.key < $1.key }.map(\.value) }

  /// Keeps a transaction until its causes have come, if there is room for it; otherwise it comes again.
  func keep(_ transaction: StagedTransaction) throws {
    let dot = transaction.record.dot
    guard roster[dot.origin.replica]?.isActive == true else { return drop(dot, .removed) }
    // Behind one that was not kept there would be a gap.
    if let reason = dropped[dot.origin]?.reason { return drop(dot, reason) }
    if dot.origin.replica == sender { try staged.readmit(dot) }
    let inherits = transaction.record.context == nil && lasts[dot.origin]?.next == dot.sequence
    let more = WaitingLimits.Amount(
      transactions: 1, bytes: StagedTransactions.byteCount(transaction, inheritsContext: inherits))
    guard try hasRoom(for: more, of: dot.origin) else {
      if try !staged.contains(dot) { drop(dot, .limit) }
      return
    }
    guard try staged.add(transaction, inheritsContext: inherits) else {
      lasts[dot.origin] = nil
      return
    }
    lasts[dot.origin] = dot.sequence
    tally?.add(more, of: dot.origin)
  }

  /// Drops what waits of those that are no active members.
  func dropRemoved() throws {
    for entry in try staged.amounts() where roster[entry.origin.replica]?.isActive != true {
      if let left = try staged.remove(of: entry.origin, after: .none) {
        drop(Dot(entry.origin, left.lowerBound), .removed)
        drop(Dot(entry.origin, left.upperBound), .removed)
      }
    }
    tally = nil
  }

  private func hasRoom(for more: WaitingLimits.Amount, of origin: Origin) throws -> Bool {
    let waiting = try tally ?? Tally(staged.amounts())
    tally = waiting
    return waiting.hasRoom(for: more, of: origin)
  }

  private func drop(_ dot: Dot, _ reason: MergeReport.Dropped.Reason) {
    let sequence = dot.sequence.rawValue
    let before = dropped[dot.origin]?.sequences ?? sequence...sequence
    dropped[dot.origin] = MergeReport.Dropped(
      replica: dot.origin.replica, sequences: min(sequence, before.lowerBound)...max(sequence, before.upperBound),
      reason: reason, message: nil)
  }
}

extension WaitingRoom {
  private struct Tally {
    private var ofOrigin: [Origin: WaitingLimits.Amount] = [:]
    private var ofMember: [ReplicaID: WaitingLimits.Amount] = [:]
    private var ofAll = WaitingLimits.Amount()

    init(_ amounts: [(origin: Origin, amount: WaitingLimits.Amount)]) {
      for entry in amounts { add(entry.amount, of: entry.origin) }
    }

    mutating func add(_ more: WaitingLimits.Amount, of origin: Origin) {
      ofOrigin[origin] = (ofOrigin[origin] ?? .init()) + more
      ofMember[origin.replica] = (ofMember[origin.replica] ?? .init()) + more
      ofAll = ofAll + more
    }

    func hasRoom(for more: WaitingLimits.Amount, of origin: Origin) -> Bool {
      !(more + (ofOrigin[origin] ?? .init())).exceeds(WaitingLimits.origin)
        && !(more + (ofMember[origin.replica] ?? .init())).exceeds(WaitingLimits.member)
        && !(more + ofAll).exceeds(WaitingLimits.all)
    }
  }
}
