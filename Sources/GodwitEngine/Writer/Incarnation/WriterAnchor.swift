import GodwitBase
import GodwitCore
import GodwitStorage

/// Compares a writer's database with its anchor, and takes a new incarnation when it is a copy or an older state of
/// itself (Specs/incarnations.md).
package final class WriterAnchor {
  let connection: Connection
  let memory: WriterMemory
  let file: AnchorFile
  let wallClock: WallClock
  private let incarnations: IncarnationNumbers
  /// Whether this opening found the database to be a copy, or an earlier state of itself.
  package private(set) var hasStartedIncarnation = false
  /// Whether this opening found other tables than were noted beside the keyring.
  package internal(set) var hasFoundAlteration = false
  /// Whether this opening has given database and anchor a new nonce.
  private var isRenewed = false
  /// What the running transaction has replaced by the anchor of another incarnation.
  private var replaced: Anchor?

  init(
    _ connection: Connection, _ memory: WriterMemory, _ file: AnchorFile, _ wallClock: WallClock,
    _ incarnations: IncarnationNumbers
  ) {
    self.incarnations = incarnations
    self.connection = connection
    self.memory = memory
    self.file = file
    self.wallClock = wallClock
  }

  /// Whether this opening has committed anything, and memory is not ahead of the database.
  var isStateKnown: Bool { isRenewed && memory.isCurrent }

  /// Compares the database with its anchor when it is opened. False for a copy, which takes a new incarnation at once,
  /// and for a new database, which takes its first anchor, or a copy of it would pass for new, too: both by a
  /// transaction. So that opening stays cheap, all else waits for the first one.
  func check() throws -> Bool {
    guard memory.nonce != .none else { return false }
    let content = try file.read()
    guard try isAnchored(by: content) else { return false }
    if case .anchor(let anchor) = content { try checkState(anchor) }
    return true
  }

  /// Gives database and anchor a new nonce, once per opening, as part of its first transaction. The file comes first
  /// and keeps the old nonce beside the new one, for the database has one or the other after a kill.
  func renewOnce() throws {
    guard !isRenewed else { return }
    try file.locked {
      let content = try file.read()
      guard try isAnchored(by: content) else { return try replaceIncarnation(content) }
      let own = memory.log.origins.own
      var anchor = Anchor(nonces: [], incarnation: own.incarnation)
      if case .anchor(let known) = content { anchor = known }
      let next = Nonce.random()
      anchor.nonces = [memory.nonce, next]
      try file.write(anchor, isDurable: false)
      try memory.setNonce(next)
    }
  }

  func hasCommitted() {
    isRenewed = true
    replaced = nil
  }

  /// Makes what is written from now on another origin's. The earlier incarnation becomes an origin like any other:
  /// what others have of it and is not here comes back with their files.
  ///
  /// The anchor names the new nonce alone, so that a kill before the commit leads here again. When the transaction
  /// fails the former anchor is put back. One that is planned only, and will be taken back, leaves the anchor as it is.
  func startIncarnation(isPlanned: Bool = false) throws {
    guard !isPlanned else {
      try memory.log.origins.save([memory.log.origins.own])
      return try addIncarnation { _ in }
    }
    try file.locked {
      if replaced == nil, case .anchor(let former) = try file.read() { replaced = former }
      try replaceIncarnation(.foreign)
    }
  }

  /// After a rollback, which leaves the database with a nonce that only the former anchor has. Where the file cannot be
  /// written the next opening takes a new incarnation, as for a copy.
  func putBack() {
    guard let former = replaced else { return }
    replaced = nil
    try? file.locked { try file.write(former, isDurable: false) }
  }

  private func replaceIncarnation(_ content: AnchorFile.Content) throws {
    let origins = memory.log.origins
    let earlier = origins.own
    try origins.save([earlier])
    if case .anchor(let anchor) = content {
      // It was written in this place: the incarnation that lived here continues nowhere.
      let lived = Origin(replica: earlier.replica, incarnation: anchor.incarnation)
      try origins.end(lived, through: anchor.exported)
    }
    try addIncarnation { anchor in try file.write(anchor, isDurable: false) }
    hasStartedIncarnation = true
  }

  private func addIncarnation(_ writeAnchor: (Anchor) throws -> Void) throws {
    try memory.clock.save(through: .none)
    // The next own entry follows on none.
    try memory.writeSums()
    let own = try OriginTable.addOwn(replica: memory.log.origins.own.replica, incarnations, on: connection)
    let next = Nonce.random()
    try writeAnchor(Anchor(nonces: [next], incarnation: own.incarnation))
    try memory.setNonce(next)
    try memory.reload()
  }

  private func isAnchored(by content: AnchorFile.Content) throws -> Bool {
    switch content {
    case .missing: return memory.nonce == .none
    case .foreign: return false
    case .anchor(let anchor):
      let own = memory.log.origins.own
      guard anchor.nonces.contains(memory.nonce), anchor.incarnation == own.incarnation else { return false }
      let head = try memory.log.origins.head(of: own)
      if anchor.exported >= head.sequence {
        return anchor.exported == head.sequence && anchor.chain == head.chain
      }
      // An entry that is gone from the log was acknowledged by all.
      return try memory.log.chain(at: Dot(own, anchor.exported)).map { $0 == anchor.chain } ?? true
    }
  }
}
