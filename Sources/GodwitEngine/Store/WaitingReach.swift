import GodwitBase
import GodwitCore

/// How far the waiting transactions of each origin follow on what is applied, and on each other.
struct WaitingReach {
  private let staged: StagedTransactions
  private let applied: VersionVector
  /// By origin, the last that follows.
  private(set) var ends: [Origin: SequenceNumber] = [:]
  /// By origin, what the transaction lacks that is the next.
  private var lacking: [Origin: [Dot]] = [:]
  /// The origins that lack a transaction of another.
  private var awaiting: [Origin: [Origin]] = [:]

  init(staged: StagedTransactions, applied: VersionVector) {
    self.staged = staged
    self.applied = applied
  }

  private func last(of origin: Origin) -> SequenceNumber { ends[origin] ?? applied[origin] }

  /// Continues with an origin. Returns those that may continue then.
  mutating func advance(_ origin: Origin) throws -> [Origin] {
    guard !isLacking(origin) else { return [] }
    let before = last(of: origin)
    try staged.forEachPassedOn(after: Dot(origin, before)) { sequence, context in
      guard sequence == last(of: origin).next else { return false }
      if let context {
        lacking[origin] = context.entries.map { Dot($0.origin, $0.sequence) }
        if isLacking(origin) { return false }
      }
      ends[origin] = sequence
      return true
    }
    return last(of: origin) > before ? awaiting.removeValue(forKey: origin) ?? [] : []
  }

  /// Whether something is lacking still, and notes who waits for it. Looks once at what is there.
  private mutating func isLacking(_ origin: Origin) -> Bool {
    while let next = lacking[origin]?.last {
      guard last(of: next.origin) >= next.sequence else {
        awaiting[next.origin, default: []].append(origin)
        return true
      }
      lacking[origin]?.removeLast()
    }
    return false
  }
}
