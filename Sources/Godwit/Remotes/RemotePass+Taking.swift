import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

extension RemotePass {
  /// What a refused file may be taken for once it is another: hashes over what this replica knows.
  struct News {
    /// Members, tables and transactions.
    let all: [UInt8]
    /// Members.
    let members: [UInt8]

    /// What decides about a refusal; nil where nothing here does.
    func deciding(_ code: GodwitError.Code) -> [UInt8]? {
      switch code {
      case .unknownSender, .notARecipient: members
      case .corruptFile, .truncatedFile, .invalidSignature, .otherGroup, .limitExceeded: nil
      default: all
      }
    }
  }

  /// Fetches and imports the mailboxes that are not as they are noted. What was refused is tried once more when others
  /// were taken: they may have brought its sender, or what it needs. Those of members that were removed are passed
  /// over.
  mutating func take(_ listed: [RemoteName: CarriedFile], from carrier: any Carrier) async throws {
    let news = try await news()
    let removed = try await replica.withKeyring { _, roster in
      Set(roster.all.filter { !$0.isActive }.map(\.identity.replica))
    }
    let files = listed.filter { name, _ in name.origin.map { !removed.contains($0.replica) } ?? false }
      .sorted { "\($0.key)" < "\($1.key)" }.map(\.value)
    for file in files where isNew(file, news) { try await take(file, from: carrier, news) }
    let again = report.refused.map(\.name)
    guard !again.isEmpty, !report.taken.isEmpty else { return }
    report.refused = []
    let latest = try await self.news()
    for file in files where again.contains(file.name) { try await take(file, from: carrier, latest) }
  }

  /// Whether a file is to be fetched. One that was refused is, once what decided about that has changed.
  private func isNew(_ file: CarriedFile, _ news: News) -> Bool {
    guard let note = notes[file.name], note.tag == file.tag, !file.tag.isEmpty else { return true }
    guard let code = note.code.map({ GodwitError.Code(rawValue: $0) }), code != .fenced else { return false }
    return news.deciding(code).map { $0 != note.news } ?? false
  }

  /// Fetches and imports one file; what is wrong with it is noted, and keeps nothing else from being taken.
  private mutating func take(_ file: CarriedFile, from carrier: any Carrier, _ news: News) async throws {
    var note = RemoteNotes.File(name: file.name, tag: file.tag, news: [])
    do {
      guard let fetched = try await fetch(file, from: carrier) else { return }
      note.tag = fetched.tag
      let taken = try await replica.take(.file(folder.fetched), isRejoining: false, nil)
      (note.ranges, note.sealed) = (taken.ranges, taken.sealed)
      report.taken.append(taken.report)
      if taken.needsState { note.code = GodwitError.Code.fenced.rawValue }
    } catch let error as GodwitError where error.refusesFile {
      note.code = error.code.rawValue
      note.news = news.deciding(error.code) ?? []
      report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: error))
    }
    try await save(note)
  }

  /// Brings a file to this replica's folder; nil when it is not there any more.
  private mutating func fetch(_ file: CarriedFile, from carrier: any Carrier) async throws -> CarriedFile? {
    let (path, name) = (folder.fetched, file.name)
    let handler = handler(.fetching, total: file.size)
    let fetched = try await replica.carrying(handler) { meter -> CarriedFile? in
      let pending = try PendingFile(replacing: path)
      guard let fetched = try carrier.read(name, into: pending, limit: Self.fileLimit, meter: meter) else { return nil }
      // Nothing depends on it after a power cut.
      try pending.commit(isDurable: false)
      return fetched
    }
    if let fetched { report.fetchedBytes += fetched.size }
    return fetched
  }

  /// Takes a whole state when some mailbox showed that this replica lacks what has been forgotten: the first of `s/`
  /// that serves.
  mutating func takeState(from carrier: any Carrier) async throws {
    let fenced = GodwitError.Code.fenced.rawValue
    let lacking = notes.values.filter { $0.code == fenced && RemoteName($0.name).map { $0.isMailbox } == true }
    guard !lacking.isEmpty else { return }
    let states = try await list(RemoteName.states, on: carrier)
    for file in states.values.sorted(by: { $0.name < $1.name }) where notes[file.name]?.tag != file.tag {
      guard try await fetch(file, from: carrier) != nil else { continue }
      var note = RemoteNotes.File(name: file.name, tag: file.tag, news: [])
      do {
        let taken = try await replica.take(.file(folder.fetched), isRejoining: isRejoining, nil)
        report.taken.append(taken.report)
        if !taken.needsState {
          // They are fetched again: what they had may be applied now.
          for note in lacking { try await forget(note.name) }
          return
        }
      } catch let error as GodwitError where error.refusesFile {
        report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: error))
        // A state that needs to be asked for is asked for again.
        if error.code == .fenced { return }
        note.code = error.code.rawValue
      }
      try await save(note)
    }
  }
}

extension RemoteName {
  var isMailbox: Bool { if case .mailbox = self { true } else { false } }
}
