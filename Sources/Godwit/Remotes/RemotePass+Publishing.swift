import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

extension RemotePass {
  /// What this replica would say now, as a hash.
  func news() async throws -> [UInt8] {
    try await replica.withExporter(for: nil, .mailbox(besides: OriginRanges())) { exporter, _ in
      try exporter.mailbox().news.bytes
    }
  }

  /// Publishes the mailbox when it would bring anything, and a state when a member needs one.
  ///
  /// - Parameter isKept: Whether the one that is noted is there.
  mutating func publish(
    _ listed: [RemoteName: CarriedFile], as own: Origin, isKept: Bool, to carrier: any Carrier
  ) async throws {
    let name = RemoteName.mailbox(own)
    let spool = folder.spool(remote.name, name)
    let note = isKept ? notes["\(name)"] : nil
    let written = try await replica.withExporter(for: nil, .mailbox(besides: ownRanges(listed, besides: own))) {
      exporter, makeDurable -> (mailbox: Exporter.Mailbox, report: ExportReport?) in
      let mailbox = try exporter.mailbox()
      if let note, note.news == mailbox.news.bytes, note.ranges.covers(mailbox.ranges) { return (mailbox, nil) }
      return (mailbox, try exporter.spool(to: spool, makeDurable))
    }
    if let report = written.report {
      let meant = RemoteNotes.File(
        name: "\(name)", tag: nil, ranges: written.mailbox.ranges, news: written.mailbox.news.bytes)
      try await save(meant)
      try await put(spool, as: meant, to: carrier)
      self.report.published = report
    }
    try await publishState(isNeeded: written.mailbox.needsState, as: own, to: carrier)
  }

  /// What the mailboxes of other replicas have of their own origins' transactions, by what was taken of them.
  private func ownRanges(_ listed: [RemoteName: CarriedFile], besides own: Origin) -> OriginRanges {
    var ranges = OriginRanges()
    for (name, file) in listed {
      guard case .mailbox(let origin) = name, origin.replica != own.replica, let note = notes[file.name],
        note.tag == file.tag, note.code == nil
      else { continue }
      ranges[origin] = note.ranges[origin]
    }
    return ranges
  }

  /// How long another's state file is believed to serve who needs one.
  private static let patience: Int64 = 86_400_000

  private mutating func publishState(isNeeded: Bool, as own: Origin, to carrier: any Carrier) async throws {
    let name = RemoteName.state(own)
    guard isNeeded else {
      remote.neededSince = nil
      guard notes["\(name)"] != nil else { return }
      try await replica.carrying { _ in try carrier.remove("\(name)") }
      return try await forget("\(name)")
    }
    let now = replica.wallClock.milliseconds()
    let since = remote.neededSince ?? now
    remote.neededSince = since
    let states = try await list(RemoteName.states, on: carrier)
    if let there = states[name], notes["\(name)"]?.tag == there.tag { return }
    let active = try await replica.withKeyring { _, roster in Set(roster.active.map(\.identity.replica)) }
    let others = states.keys.compactMap(\.origin).filter { $0.replica != own.replica && active.contains($0.replica) }
    guard others.isEmpty || now - since >= Self.patience else { return }
    let spool = folder.spool(remote.name, name)
    let report = try await replica.withExporter(for: nil, .state) { try $0.spool(to: spool, $1) }
    let meant = RemoteNotes.File(name: "\(name)", tag: nil, news: [])
    try await save(meant)
    try await put(spool, as: meant, to: carrier)
    self.report.publishedState = report
  }

  /// Removes the mailboxes of this replica's ended incarnations: its present one passes on what they had.
  mutating func tidy(_ listed: [RemoteName: CarriedFile], own: Origin, on carrier: any Carrier) async throws {
    let ended = try await replica.pool.read { connection in
      let origins = try ChangeLog(connection).origins
      return origins.ended.filter { $0.key.replica == own.replica && origins.vector[$0.key] >= $0.value }
    }
    for name in listed.keys {
      guard case .mailbox(let origin) = name, ended[origin] != nil else { continue }
      try await replica.carrying { _ in try carrier.remove("\(name)") }
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
