import GodwitBase
import GodwitCore
import GodwitStorage

/// Taking a new incarnation when the database is a copy or an older state of itself (Specs/incarnations.md).
extension ReplicaWriter {
  /// Compares the database with its anchor when it is opened. A copy takes a new incarnation at once, and a new
  /// database its first anchor, or a copy of it would pass for new, too; so that opening stays cheap, all else waits
  /// for the first transaction.
  func checkAnchor() throws {
    guard nonce != .none else { return try inTransaction {} }
    let content = try anchorFile.read()
    guard try isAnchored(by: content) else { return try inTransaction {} }
    if case .anchor(let anchor) = content { try checkState(anchor) }
  }

  /// Gives database and anchor a new nonce, once per opening, as part of its first transaction. The file comes first
  /// and keeps the old nonce beside the new one, for the database has one or the other after a kill.
  func renewAnchor() throws {
    try anchorFile.locked {
      let content = try anchorFile.read()
      guard try isAnchored(by: content) else { return try replaceIncarnation(content) }
      let own = log.origins.own
      var anchor = Anchor(nonces: [], incarnation: own.incarnation)
      if case .anchor(let known) = content { anchor = known }
      let next = Nonce.random()
      anchor.nonces = [nonce, next]
      try anchorFile.write(anchor, isDurable: false)
      try setNonce(next)
    }
  }

  /// Makes what is written from now on another origin's. The earlier incarnation becomes an origin like any other:
  /// what others have of it and is not here comes back with their files.
  ///
  /// The anchor names the new nonce alone, so that a kill before the commit leads here again. When the transaction
  /// fails the former anchor is put back. One that is planned only, and will be taken back, leaves the anchor as it is.
  func startIncarnation(isPlanned: Bool = false) throws {
    guard !isPlanned else {
      try log.origins.save([log.origins.own])
      return try addIncarnation { _ in }
    }
    try anchorFile.locked {
      if replacedAnchor == nil, case .anchor(let former) = try anchorFile.read() { replacedAnchor = former }
      try replaceIncarnation(.foreign)
    }
  }

  /// After a rollback, which leaves the database with a nonce that only the former anchor has. Where the file cannot be
  /// written the next opening takes a new incarnation, as for a copy.
  func putAnchorBack() {
    guard let former = replacedAnchor else { return }
    replacedAnchor = nil
    try? anchorFile.locked { try anchorFile.write(former, isDurable: false) }
  }

  private func replaceIncarnation(_ content: AnchorFile.Content) throws {
    let earlier = log.origins.own
    try log.origins.save([earlier])
    if case .anchor(let anchor) = content {
      // It was written in this place: the incarnation that lived here continues nowhere.
      let lived = Origin(replica: earlier.replica, incarnation: anchor.incarnation)
      try log.origins.end(lived, through: anchor.exported)
    }
    try addIncarnation { anchor in try anchorFile.write(anchor, isDurable: false) }
    hasStartedIncarnation = true
  }

  private func addIncarnation(_ writeAnchor: (Anchor) throws -> Void) throws {
    try clock.save(through: .none)
    // The next own entry follows on none.
    try writeSums()
    let own = try OriginTable.addOwn(replica: log.origins.own.replica, on: connection)
    let next = Nonce.random()
    try writeAnchor(Anchor(nonces: [next], incarnation: own.incarnation))
    try setNonce(next)
    try reload()
  }

  private func setNonce(_ nonce: Nonce) throws {
    try Meta.set(.nonce, .blob(nonce.bytes), on: connection)
    self.nonce = nonce
  }

  private func isAnchored(by content: AnchorFile.Content) throws -> Bool {
    switch content {
    case .missing: return nonce == .none
    case .foreign: return false
    case .anchor(let anchor):
      let own = log.origins.own
      guard anchor.nonces.contains(nonce), anchor.incarnation == own.incarnation else { return false }
      let head = try log.origins.head(of: own)
      if anchor.exported >= head.sequence {
        return anchor.exported == head.sequence && anchor.chain == head.chain
      }
      // An entry that is gone from the log was acknowledged by all.
      return try log.chain(at: Dot(own, anchor.exported)).map { $0 == anchor.chain } ?? true
    }
  }
}
