import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitEngine
import GodwitKeys
import GodwitRemotes
import GodwitStorage

/// What a pass knows of epochs (Specs/remotes.md, "Large groups").
struct PassEpochs {
  /// What mailboxes and files of logs are sealed to; nil where they are sealed to each member.
  var chosen: Epoch?
  /// The files with epochs that lie there; nil until they were listed in this pass.
  var listed: [RemoteName: CarriedFile]?

  /// How many files with epochs are fetched in a pass.
  static let fetchLimit = 256
  /// After how long a maker removes its own. Milliseconds.
  static let longest: Int64 = 365 * 86_400_000
}

extension RemotePass {
  // MARK: Taking

  /// Takes the epochs that lie there and are not noted, where they may be what a refused file is sealed to, or what is
  /// to be used here. Once in a pass. Returns whether one was taken.
  ///
  /// - Parameter listed: The files that were looked at.
  mutating func takeEpochs(for listed: [RemoteName: CarriedFile], from carrier: any Carrier) async throws -> Bool {
    guard epochs.listed == nil else { return false }
    let active = try await activeMembers()
    let isLocked = listed.contains { name, file in
      guard let origin = name.origin, active.contains(origin.replica), let note = notes[file.name] else { return false }
      return note.code == GodwitError.Code.notARecipient.rawValue
    }
    if !isLocked {
      guard try await isLarge() else { return false }
      if let epoch = try await usableEpoch(), isNoted(epoch) { return false }
    }
    return try await takeEpochs(of: active, from: carrier)
  }

  /// Lists the epochs there, and takes what is not noted of them. Of makers that are no members here, too: a newcomer's
  /// may be what its inviter's file is sealed to, and introduces it.
  mutating func takeEpochs(of active: Set<ReplicaID>, from carrier: any Carrier) async throws -> Bool {
    let listed = try await list(RemoteName.epochs, on: carrier).filter { $0.key.epochKey != nil }
    epochs.listed = listed
    for note in notes.values {
      guard let name = RemoteName(note.name), name.epochKey != nil, listed[name] == nil else { continue }
      try await forget(note.name)
    }
    let members = listed.filter { name, _ in name.origin.map { active.contains($0.replica) } ?? false }
    let others = listed.filter { members[$0.key] == nil && $0.value.size <= PassIntake.strangerLimit.bytes }
    let hasTaken = try await takeEpochs(members, atMost: PassEpochs.fetchLimit, from: carrier)
    let hasTakenOthers = try await takeEpochs(others, atMost: PassIntake.strangerLimit.count, from: carrier)
    return hasTaken || hasTakenOthers
  }

  private mutating func takeEpochs(
    _ listed: [RemoteName: CarriedFile], atMost limit: Int, from carrier: any Carrier
  ) async throws -> Bool {
    var (hasTaken, left) = (false, limit)
    for file in listed.values.sorted(by: { $0.name < $1.name }) where left > 0 {
      guard try await isNew(file) else { continue }
      left -= 1
      if try await takeEpoch(file, from: carrier) { hasTaken = true }
    }
    return hasTaken
  }

  /// Returns whether the file was taken and brought the epoch of its name: otherwise it is noted as none.
  private mutating func takeEpoch(_ file: CarriedFile, from carrier: any Carrier) async throws -> Bool {
    guard try await take(file, from: carrier) else { return false }
    let key = RemoteName(file.name)?.epochKey
    let isKnown = try await replica.withKeyring { contents, _ in try contents.epochs.contains { $0.key.digits == key } }
    if !isKnown, var note = notes[file.name] {
      note.code = GodwitError.Code.notARecipient.rawValue
      note.news = try await news().deciding(.notARecipient, of: file.name)
      try await save(note)
    }
    return isKnown
  }

  func activeMembers() async throws -> Set<ReplicaID> {
    try await replica.withKeyring { _, roster in Set(roster.active.map(\.identity.replica)) }
  }

  // MARK: Using

  private func isLarge() async throws -> Bool {
    let limit = replica.tuning.largeGroup
    return try await replica.withKeyring { _, roster in roster.active.count >= limit }
  }

  /// The epoch that a file for all members would be sealed to, of those that are known.
  private func usableEpoch() async throws -> Epoch? {
    let set = try await replica.withExporter(for: nil, .acknowledgement) { exporter, _ in exporter.sealed }
    let now = now
    return try await replica.withKeyring { contents, _ in
      try contents.epochs.filter { $0.isUsable(for: set, at: now) }.max(by: Epoch.isBefore)
    }
  }

  /// Whether a file with the epoch is noted to be there.
  private func isNoted(_ epoch: Epoch) -> Bool {
    let digits = epoch.key.digits
    return notes.values.contains { $0.tag != nil && $0.isTaken && RemoteName($0.name)?.epochKey == digits }
  }

  /// Chooses what files are sealed to, where the group is large: a known epoch that lies there. Returns false where all
  /// is to be looked at for one.
  mutating func chooseKnownEpoch() async throws -> Bool {
    epochs.chosen = nil
    guard try await isLarge() else { return true }
    guard let epoch = try await usableEpoch(), isNoted(epoch) else { return false }
    epochs.chosen = epoch
    return true
  }

  /// Chooses what files are sealed to, where the group is large: a known epoch, or a new one, which the keyring has
  /// before anything is sealed to it.
  mutating func chooseEpoch() async throws {
    epochs.chosen = nil
    guard try await isLarge() else { return }
    if let epoch = try await usableEpoch() {
      epochs.chosen = epoch
      return
    }
    let (now, maker) = (now, replica.identity.replica)
    let made = try await replica.withExporter(for: nil, .acknowledgement) { exporter, _ in
      Epoch(try EpochKey.generate(exporter.kind, at: now), set: exporter.sealed, maker: maker)
    }
    let location = replica.folder.keys
    try await BlockingThread.run { try Keyring.update(at: location) { try $0.add(made) } }
    knownNews = nil
    // Where its place is taken nobody could open it any more.
    epochs.chosen = try await usableEpoch()
  }

  /// Puts files with the epochs of the present members there that are not there as far as is known. Nothing is sealed
  /// to the chosen one where the members have become others.
  mutating func publishEpochs(as own: Origin, to carrier: any Carrier) async throws {
    guard let chosen = epochs.chosen else { return }
    // Others' files may be sealed to earlier ones.
    let earliest = now - PassEpochs.longest
    let known = try await replica.withKeyring { contents, _ in
      try contents.epochs.filter { $0.set == chosen.set && $0.key.createdAt > earliest }
    }
    for epoch in known where !isNoted(epoch) { try await publish(epoch, as: own, to: carrier) }
    if !isNoted(chosen) { epochs.chosen = nil }
  }

  private mutating func publish(_ epoch: Epoch, as own: Origin, to carrier: any Carrier) async throws {
    let name = RemoteName.epoch(own, key: epoch.key.digits)
    let spool = folder.spool(remote.name, name)
    let isWritten = try await replica.withExporter(for: nil, .acknowledgement) { exporter, makeDurable in
      // Who has become a member since is given no earlier epoch.
      guard exporter.sealed == epoch.set else { return false }
      _ = try exporter.bringing(epoch.key).spool(to: spool, makeDurable)
      return true
    }
    guard isWritten else { return }
    try await put(spool, as: RemoteNotes.File(name: "\(name)", tag: nil, at: now, news: []), code: nil, to: carrier)
  }

  /// Removes own epochs of long ago.
  mutating func tidyEpochs(on carrier: any Carrier) async throws {
    let own = replica.identity.replica
    for note in orderedNotes where now - note.at > PassEpochs.longest {
      guard let name = RemoteName(note.name), name.epochKey != nil, name.origin?.replica == own else { continue }
      try await carrying { try carrier.remove(note.name, meter: $0) }
      try await forget(note.name)
    }
  }
}
