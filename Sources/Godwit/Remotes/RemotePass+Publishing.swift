import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage
import GodwitSyncFile

extension RemotePass {
  /// A state file that a member needs.
  struct NeededState {
    let name: RemoteName
    /// What it must have by now: who needs it may have forgotten that.
    let need: VersionVector
  }

  /// Publishes the mailbox when it would bring anything. Returns the state file that a member needs; nil where none
  /// does.
  ///
  /// - Parameters:
  ///   - others: What lies there besides, with the transactions that need not be in this replica's mailbox.
  ///   - isKept: Whether the one that is noted is there, as far as is known.
  ///   - wasLate: Whether a list has not shown it.
  mutating func publish(
    as own: Origin, besides others: [RemoteNotes.File], isKept: Bool, wasLate: Bool, to carrier: any Carrier
  ) async throws -> NeededState? {
    let name = RemoteName.mailbox(own)
    let note = isKept ? notes["\(name)"].flatMap { hasBase(of: $0) ? $0 : nil } : nil
    let present = presentMailboxes
    let mayReplace = name != untaken
    let written = try await spool(name, at: now, besides: others) { sealed in
      .besides(Set(present.filter { $0.sealed == sealed }.map(\.origin)))
    } where: {
      mayReplace && (note?.isOutdated(by: $0) ?? true)
    }
    if let file = written.file {
      try await putMailbox(file, name, code: wasLate ? RemoteNotes.File.late : RemoteNotes.File.new, to: carrier)
    }
    noteWithheld(written.mailbox)
    return written.mailbox.stateNeed.map { need in
      let recipients = String(Hexadecimal.encode(written.mailbox.sealed).prefix(16))
      return NeededState(name: .state(own, sealedTo: recipients), need: need)
    }
  }

  /// Puts the mailbox. One that is too large is named when states and logs have been put.
  private mutating func putMailbox(
    _ file: SpooledFile, _ name: RemoteName, code: String, to carrier: any Carrier
  ) async throws {
    let spool = folder.spool(remote.name, name)
    do {
      try await put(file, from: spool, code: code, to: carrier)
      report.published = file.report
    } catch let error as GodwitError where error.code == .limitExceeded {
      try await BlockingThread.run { try RemotesFolder.remove(spool) }
      unpublished = GodwitError(
        error.code, error.message,
        hint: "carry it by hand: godwit export FILE; a replica that syncs with --collect puts it there in pieces, too")
    }
  }

  /// How old a member's word may be of what has not come, in milliseconds: lists and files come late.
  private static let delay: Int64 = 86_400_000

  /// Whoever has said that it holds something has put that there, or found it there, before.
  private mutating func noteWithheld(_ mailbox: Exporter.Mailbox) {
    guard let since = mailbox.lackedSince, since < now - Self.delay, report.refused.isEmpty,
      !report.findings.contains(.needsState)
    else { return }
    report.findings.insert(.withheld)
  }

  /// What a file for all members would have that leaves out what lies there, and the file itself where it is wanted.
  ///
  /// - Parameters:
  ///   - limit: How many bytes it may have; it ends where it would get larger. Nil for one that has all.
  ///   - passing: Which acknowledgements it passes on, by a hash of its recipients.
  func spool(
    _ name: RemoteName, at time: Int64, besides others: [RemoteNotes.File], within limit: Int? = nil,
    passing: @escaping @Sendable (_ sealed: [UInt8]) -> Exporter.Passing,
    where isWanted: @escaping @Sendable (Exporter.Mailbox) -> Bool
  ) async throws -> (mailbox: Exporter.Mailbox, file: SpooledFile?) {
    let spool = folder.spool(remote.name, name)
    let (bases, tuning) = (presentBases, replica.tuning)
    let (folder, remoteName) = (folder, remote.name)
    let epoch = epochs.chosen
    let unaware = try await leftOut()
    return try await replica.withExporter(for: nil, .mailbox(besides: JoinedRanges())) { exporter, makeDurable in
      // Who came later opens no file that is not sealed to all whom this one is for.
      let sealed = exporter.sealed
      let isUsable = epoch?.isUsable(for: sealed, at: time) ?? false
      let exporter = exporter.leavingOut(others.filter { $0.sealed == sealed.bytes }.map(\.ranges))
        .sealed(to: isUsable ? epoch?.key.recipient : nil).limited(to: limit)
      let mailbox = try exporter.mailbox(unaware: unaware)
      guard isWanted(mailbox) else { return (mailbox, nil) }
      var note = RemoteNotes.File(name: "\(name)", tag: nil, at: time, news: mailbox.news.bytes)
      note.sealed = mailbox.sealed
      guard exporter.memberCount >= tuning.largeGroup else {
        let report = try exporter.spool(to: spool, makeDurable)
        note.ranges = report.ranges
        return (mailbox, SpooledFile(note: note, report: report))
      }
      let file = try Self.spoolShort(
        exporter.passing(passing(sealed.bytes)), note, to: spool, on: bases, growth: tuning.baseGrowth, makeDurable
      ) { folder.spool(remoteName, $0) }
      return (mailbox, file)
    }
  }

  /// The incarnations whose mailboxes are there, were taken and can be taken by others: their acknowledgements are
  /// there, too, for those whom the mailbox is sealed to.
  private var presentMailboxes: [(origin: Origin, sealed: [UInt8])] {
    let bases = baseKeys
    return notes.values.compactMap { note in
      guard case .mailbox(let origin)? = RemoteName(note.name), note.isTaken, note.isWhole(on: bases), isReadable(note)
      else { return nil }
      return (origin, note.sealed)
    }
  }

  /// What others have put there and this replica has taken, with the transactions that it need not publish: of a
  /// mailbox its author's own, of a log all but this replica's own. A log may be gone, so its files count for a day,
  /// and not for who keeps one itself: each would leave it to the other. Nobody takes all from who was removed, or from
  /// an incarnation that has ended.
  ///
  /// - Parameter listed: The mailboxes as they are there now.
  func present(_ listed: [RemoteName: CarriedFile]) async throws -> [RemoteNotes.File] {
    let (own, bases) = (replica.identity.replica, baseKeys)
    let authors = try await livingAuthors()
    return notes.values.compactMap { note in
      guard let name = RemoteName(note.name), let origin = name.origin, origin.replica != own, note.isTaken,
        authors(origin), note.isWhole(on: bases)
      else { return nil }
      var file = note
      switch name {
      case .mailbox where isPresent(note, listed[name]): file.ranges.keep { $0 == origin }
      case .log where !keepsLog && (now - note.at).magnitude < LogTimes.shortest:
        file.ranges.keep { $0.replica != own }
      default: return nil
      }
      return file
    }
  }

  /// Those of whose files something was left out: they need a state. Who was removed, or has ended, does not.
  private func leftOut() async throws -> Set<Origin> {
    let origins = notes.values.filter(\.hasLeftOut).compactMap { RemoteName($0.name)?.origin }
    // Mostly there is none, and nothing to read for it.
    guard !origins.isEmpty else { return [] }
    return Set(origins.filter(try await livingAuthors()))
  }

  /// Whether an incarnation is a member's, and not known to have ended.
  private func livingAuthors() async throws -> @Sendable (Origin) -> Bool {
    let active = try await activeMembers()
    let ended = try await replica.pool.read { try OriginTable($0).ended }
    return { active.contains($0.replica) && ended[$0] == nil }
  }

  /// What is sealed to an epoch can be read by who was away as long as that lies there.
  private func isPresent(_ note: RemoteNotes.File, _ file: CarriedFile?) -> Bool {
    guard let file, file.tag == note.tag else { return false }
    return isReadable(note)
  }

  private func isReadable(_ note: RemoteNotes.File) -> Bool {
    epochs.chosen == nil || (now - note.at).magnitude < PassEpochs.longest / 2
  }

  /// For how long a state file is believed to serve who needs one, in milliseconds.
  private static let patience: Int64 = 86_400_000

  /// Publishes a state file that a member needs, unless it is there and new enough, or another's that may serve. The
  /// store may have gone back to one of this name that has become too old.
  ///
  /// - Parameter needed: Nil when no member needs one.
  mutating func publishState(_ needed: NeededState?, as own: Origin, to carrier: any Carrier) async throws {
    try await removeStates(but: needed?.name, on: carrier)
    guard let needed else {
      remote.neededSince = nil
      return
    }
    let (now, name) = (now, needed.name)
    let since = remote.neededSince ?? now
    remote.neededSince = since
    let states = try await list(RemoteName.states, on: carrier)
    // One that was too large to be put has no content.
    if let note = notes["\(name)"], !note.content.isEmpty { try await look(at: note, states[name], on: carrier) }
    if states[name] != nil, let note = notes["\(name)"], note.tag != nil {
      // Mostly one for who needs one serves; so each serves for as long as all before it did.
      let isRecent = (now - note.at).magnitude < max(Self.patience.magnitude, (note.at - since).magnitude)
      if isRecent || note.ranges.covers(OriginRanges(through: needed.need)) { return }
    } else if (now - since).magnitude < Self.patience, try await hasAnothers(states.keys, like: name) {
      return
    }
    let tooLarge = GodwitError.tooLargeToFetch(replica.tuning.remoteFileSize)
    if let note = notes["\(name)"], note.code == tooLarge.code.rawValue, (now - note.at).magnitude < Self.patience {
      return report.refused.append(Replica.SyncReport.Refusal(name: note.name, error: tooLarge))
    }
    let spool = folder.spool(remote.name, name)
    let report = try await replica.withExporter(for: nil, .state) { try $0.spool(to: spool, $1) }
    var meant = RemoteNotes.File(name: "\(name)", tag: nil, at: now, ranges: report.ranges, news: [])
    do {
      try await put(spool, as: meant, code: RemoteNotes.File.new, to: carrier)
      self.report.publishedState = report
    } catch let error as GodwitError where error.code == tooLarge.code {
      // The next try is a day later.
      meant.code = error.code.rawValue
      try await save(meant)
      try await BlockingThread.run { try RemotesFolder.remove(spool) }
      self.report.refused.append(Replica.SyncReport.Refusal(name: meant.name, error: error))
    }
  }

  /// Whether a state of another active member is there for the same recipients.
  private func hasAnothers(_ names: some Collection<RemoteName>, like needed: RemoteName) async throws -> Bool {
    let active = try await activeMembers()
    return names.contains { name in
      guard case .state(let origin, let recipients) = name, case .state(_, recipients) = needed else { return false }
      return origin.replica != replica.identity.replica && active.contains(origin.replica)
    }
  }

  /// Removes the states that this replica has published, but for one.
  private mutating func removeStates(but needed: RemoteName?, on carrier: any Carrier) async throws {
    let own = replica.identity.replica
    for note in orderedNotes {
      guard let name = RemoteName(note.name), case .state(let origin, _) = name, origin.replica == own, name != needed
      else { continue }
      try await carrying { try carrier.remove(note.name, meter: $0) }
      try await forget(note.name)
    }
  }

  /// Removes the mailboxes and marks of this replica's ended incarnations: its present one passes on what they had.
  mutating func tidy(_ listed: [RemoteName: CarriedFile], own: Origin, on carrier: any Carrier) async throws {
    let ended = try await replica.pool.read { connection in
      let origins = try ChangeLog(connection).origins
      return origins.ended.filter { $0.key.replica == own.replica && origins.vector[$0.key] >= $0.value }
    }
    for (name, file) in listed.sorted(by: { $0.value.name < $1.value.name }) {
      guard name.isMailbox || name.isLogMark, let origin = name.origin, ended[origin] != nil else { continue }
      try await carrying { try carrier.remove(file.name, meter: $0) }
      try await forget(file.name)
    }
  }
}

extension Exporter {
  /// Writes the file to this replica's own folder, durably.
  func spool(to path: String, _ makeDurable: Replica.MakeDurable) throws -> ExportReport {
    let file = try PendingFile(replacing: path)
    let report = try export(to: file, makeDurable: makeDurable, progress: nil)
    try file.commit()
    return report
  }
}

extension RemoteNotes.File {
  /// Whether a mailbox would bring anything that this file does not.
  func isOutdated(by mailbox: Exporter.Mailbox) -> Bool {
    news != mailbox.news.bytes || !ranges.covers(mailbox.ranges)
  }
}
