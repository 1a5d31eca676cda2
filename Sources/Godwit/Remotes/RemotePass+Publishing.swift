import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

extension RemotePass {
  func news() async throws -> News {
    var hour = ByteWriter()
    hour.signedVarint(replica.wallClock.milliseconds() / 3_600_000)
    let bytes = hour.bytes
    return try await replica.withExporter(for: nil, .mailbox(besides: OriginRanges())) { exporter, _ in
      let mailbox = try exporter.mailbox()
      return News(all: mailbox.news.bytes, members: mailbox.members.bytes, hour: bytes)
    }
  }

  /// Publishes the mailbox when it would bring anything, and a state when a member needs one.
  ///
  /// - Parameters:
  ///   - isKept: Whether the one that is noted is there, as far as is known.
  ///   - wasLate: Whether a list has not shown it.
  mutating func publish(
    _ listed: [RemoteName: CarriedFile], as own: Origin, isKept: Bool, wasLate: Bool, to carrier: any Carrier
  ) async throws {
    let name = RemoteName.mailbox(own)
    let spool = folder.spool(remote.name, name)
    let note = isKept ? notes["\(name)"] : nil
    let others = mailboxes(listed, besides: own)
    let written = try await replica.withExporter(for: nil, .mailbox(besides: OriginRanges())) {
      exporter, makeDurable -> (mailbox: Exporter.Mailbox, sealed: [UInt8], report: ExportReport?) in
      let sealed = exporter.sealed.bytes
      let exporter = exporter.leavingOut(Self.ownRanges(others.filter { $0.value.sealed == sealed }))
      let mailbox = try exporter.mailbox()
      if let note, note.news == mailbox.news.bytes, note.ranges.covers(mailbox.ranges) { return (mailbox, sealed, nil) }
      return (mailbox, sealed, try exporter.spool(to: spool, makeDurable))
    }
    if let report = written.report {
      var meant = RemoteNotes.File(
        name: "\(name)", tag: nil, ranges: written.mailbox.ranges, news: written.mailbox.news.bytes)
      meant.sealed = written.sealed
      let code = wasLate ? RemoteNotes.File.late : RemoteNotes.File.new
      try await put(spool, as: meant, code: code, to: carrier)
      self.report.published = report
    }
    let state = RemoteName.state(own, sealedTo: String(Hexadecimal.encode(written.sealed).prefix(16)))
    try await publishState(written.mailbox.needsState ? state : nil, to: carrier)
  }

  /// The mailboxes of other replicas that were taken as they are there now.
  private func mailboxes(
    _ listed: [RemoteName: CarriedFile], besides own: Origin
  ) -> [Origin: RemoteNotes.File] {
    listed.reduce(into: [:]) { taken, entry in
      guard case .mailbox(let origin) = entry.key, origin.replica != own.replica,
        let note = notes[entry.value.name], note.tag == entry.value.tag, note.code == nil
      else { return }
      taken[origin] = note
    }
  }

  /// What these have of their own origins' transactions.
  private static func ownRanges(_ mailboxes: [Origin: RemoteNotes.File]) -> OriginRanges {
    mailboxes.reduce(into: OriginRanges()) { $0[$1.key] = $1.value.ranges[$1.key] }
  }

  /// How long another's state file is believed to serve who needs one.
  private static let patience: Int64 = 86_400_000

  /// - Parameter needed: The name of the state that a member needs; nil when none does.
  private mutating func publishState(_ needed: RemoteName?, to carrier: any Carrier) async throws {
    try await removeStates(but: needed, on: carrier)
    guard let needed, case .state(let own, let recipients) = needed else {
      remote.neededSince = nil
      return
    }
    let now = replica.wallClock.milliseconds()
    let since = remote.neededSince ?? now
    remote.neededSince = since
    let states = try await list(RemoteName.states, on: carrier)
    if states[needed] != nil, notes["\(needed)"]?.tag != nil { return }
    let active = try await replica.withKeyring { _, roster in Set(roster.active.map(\.identity.replica)) }
    let others = states.keys.filter { name in
      guard case .state(let origin, recipients) = name else { return false }
      return origin.replica != own.replica && active.contains(origin.replica)
    }
    guard others.isEmpty || now - since >= Self.patience else { return }
    let spool = folder.spool(remote.name, needed)
    let report = try await replica.withExporter(for: nil, .state) { try $0.spool(to: spool, $1) }
    let meant = RemoteNotes.File(name: "\(needed)", tag: nil, news: [])
    try await put(spool, as: meant, code: RemoteNotes.File.new, to: carrier)
    self.report.publishedState = report
  }

  /// Removes the states that this replica has published, but for one.
  private mutating func removeStates(but needed: RemoteName?, on carrier: any Carrier) async throws {
    let own = replica.identity.replica
    for note in notes.values {
      guard let name = RemoteName(note.name), case .state(let origin, _) = name, origin.replica == own, name != needed
      else { continue }
      try await replica.carrying { try carrier.remove(note.name, meter: $0) }
      try await forget(note.name)
    }
  }

  /// Removes the mailboxes of this replica's ended incarnations: its present one passes on what they had.
  mutating func tidy(_ listed: [RemoteName: CarriedFile], own: Origin, on carrier: any Carrier) async throws {
    let ended = try await replica.pool.read { connection in
      let origins = try ChangeLog(connection).origins
      return origins.ended.filter { $0.key.replica == own.replica && origins.vector[$0.key] >= $0.value }
    }
    for name in listed.keys {
      guard case .mailbox(let origin) = name, ended[origin] != nil else { continue }
      try await replica.carrying { try carrier.remove("\(name)", meter: $0) }
      try await forget("\(name)")
    }
  }
}

extension Exporter {
  /// Writes the file to this replica's own folder, durably.
  fileprivate func spool(to path: String, _ makeDurable: Replica.MakeDurable) throws -> ExportReport {
    let file = try PendingFile(replacing: path)
    let report = try export(to: file, makeDurable: makeDurable, progress: nil)
    try file.commit()
    return report
  }
}
