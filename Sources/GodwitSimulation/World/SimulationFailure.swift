/// What should not have happened in a world.
package struct SimulationFailure: Error, CustomStringConvertible, Equatable, Sendable {
  package enum Kind: String, Sendable {
    /// Replicas that hold the same changes differ, or show another state than the model.
    case divergence
    /// A constraint is broken, a page is damaged, a chain does not fit.
    case integrity
    /// A write that was acknowledged is gone, or one that was not is there.
    case durability
    /// A lost write is in no conflict log.
    case conflict
    /// The replica does not hold what it was given, or says that it holds what it was not.
    case transfer
    /// A migration left something undone.
    case migration
    /// Something is remembered that nobody needs.
    case forgetting
    /// A timestamp that should not be.
    case clock
    /// An operation threw what it may not throw.
    case error
  }

  package let kind: Kind
  package let message: String
  /// The number of the event; nil at the end.
  package var event: Int?

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  package var description: String {
    "\(kind.rawValue) \(event.map { "at event \($0)" } ?? "when all was delivered"): \(message)"
  }
}
