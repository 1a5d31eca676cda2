/// The updates that followed one move to a key: origin → last sequence.
package struct FollowedUpdates: Hashable, Sendable {
  /// Those that keep the row alive: no delete has seen them here.
  package var staying = VersionVector()
  /// Those that went on by a later move; a move still to come may take them, too.
  package var gone = VersionVector()

  package var isEmpty: Bool { staying.isEmpty && gone.isEmpty }

  package init(staying: VersionVector = .init(), gone: VersionVector = .init()) {
    self.staying = staying
    self.gone = gone
  }
}
