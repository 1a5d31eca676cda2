import Godwit

extension Conflict {
  /// What a side of a conflict had written.
  package enum Side {
    /// Values of columns, as text.
    case values(String)
    /// What holds no value of its own.
    case words(String)

    package var text: String {
      switch self {
      case .values(let text), .words(let text): text
      }
    }
  }

  /// What lost and what won.
  package var sides: (lost: Side, won: Side) {
    let values = (Side.values(Format.values(losingValues)), Side.values(Format.values(winningValues)))
    return switch kind {
    case .delete: (.words("the delete"), .words("an edit"))
    case .constraint: (columns.isEmpty ? .words("the row") : values.0, .words("a constraint of this replica"))
    case .edit where columns.isEmpty: (.words("the row"), .words("a delete"))
    case .edit, .unique, .reference: values
    }
  }

  /// The incarnations that wrote the two sides, those that are remembered.
  package var authors: [(replica: ReplicaID, incarnation: Incarnation.ID)] {
    [loser, winner].compactMap { author in author.map { ($0.replica, $0.incarnation) } }
  }
}
