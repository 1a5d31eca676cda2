/// Merges several origins' transactions into one order in which each comes after all that its author held, and, as
/// far as that allows, by HLC.
///
/// Timestamps alone do not say what came first: they rise cell by cell only (Specs/clock.md). A transaction takes
/// logarithmic time in the number of origins; one that states a context takes linear time.
package struct CausalOrder {
  private struct Candidate {
    let dot: Dot
    let hlc: HLC
    func precedes(_ other: Candidate) -> Bool { (hlc, dot.origin) < (other.hlc, other.dot.origin) }
  }

  /// What has come, or is there from the beginning.
  private var covered: VersionVector
  /// What each origin's latest transaction stated.
  private var contexts: [Origin: VersionVector] = [:]
  /// A binary heap; the first to go is on top.
  private var ready: [Candidate] = []
  /// Candidates by an origin that has to come further first, and how far.
  private var waiting: [Origin: [(sequence: SequenceNumber, candidate: Candidate)]] = [:]

  package init(covered: VersionVector) { self.covered = covered }

  /// Names an origin's next transaction, once the one before it has gone. `context` is nil when it is that of the one
  /// before.
  package mutating func add(_ dot: Dot, hlc: HLC, context: VersionVector?) {
    let candidate = Candidate(dot: dot, hlc: hlc)
    guard let context else { return push(candidate) }
    contexts[dot.origin] = context
    place(candidate)
  }

  /// The origin whose next transaction goes now, or nil when all have gone or none can.
  package mutating func next() -> Origin? {
    guard let candidate = pop() else { return nil }
    let dot = candidate.dot
    covered[dot.origin] = dot.sequence
    if let held = waiting.removeValue(forKey: dot.origin) {
      waiting[dot.origin] = held.filter { $0.sequence > dot.sequence }
      for (sequence, candidate) in held where sequence <= dot.sequence { place(candidate) }
    }
    return dot.origin
  }

  private mutating func place(_ candidate: Candidate) {
    let context = contexts[candidate.dot.origin] ?? VersionVector()
    guard let lacking = context.entries.first(where: { covered[$0.origin] < $0.sequence }) else {
      return push(candidate)
    }
    waiting[lacking.origin, default: []].append((lacking.sequence, candidate))
  }

  private mutating func push(_ candidate: Candidate) {
    ready.append(candidate)
    var child = ready.count - 1
    while child > 0, ready[child].precedes(ready[(child - 1) / 2]) {
      ready.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private mutating func pop() -> Candidate? {
    guard let first = ready.first else { return nil }
    ready.swapAt(0, ready.count - 1)
    ready.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < ready.count && ready[child].precedes(ready[least]) {
        least = child
      }
      guard least != parent else { return first }
      ready.swapAt(parent, least)
      parent = least
    }
  }
}
