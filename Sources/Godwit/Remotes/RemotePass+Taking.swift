import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

extension RemotePass {
  /// What a refused file may be taken for once it is another: what this replica knows, as hashes, and the time.
  struct News {
    /// Members, tables and transactions.
    let all: [UInt8]
    /// Members.
    let members: [UInt8]
    /// Members, and the epochs that are known.
    let epochs: [UInt8]
    /// The hour: a file that is copied to its place piece by piece may have its size before its content.
    let hour: [UInt8]

    /// What decides about a refusal. Files with epochs are sealed to none.
    func deciding(_ code: GodwitError.Code, of name: String) -> [UInt8] {
      switch code {
      case .notARecipient where RemoteName(name)?.epochKey == nil: epochs
      case .unknownSender, .notARecipient: members
      case .corruptFile, .truncatedFile, .invalidSignature, .otherGroup, .limitExceeded, .unknownBase:
        hour
      default: all
      }
    }
  }

  /// What this replica knows now.
  mutating func news() async throws -> News {
    if let knownNews { return knownNews }
    var hour = ByteWriter()
    hour.signedVarint(replica.wallClock.milliseconds() / 3_600_000)
    let bytes = hour.bytes
    let keys = try await replica.withKeyring { contents, _ in try contents.epochs.map(\.key.recipient) }
    let news = try await replica.withExporter(for: nil, .mailbox(besides: JoinedRanges())) { exporter, _ in
      let mailbox = try exporter.mailbox()
      let members = mailbox.members.bytes
      return News(all: mailbox.news.bytes, members: members, epochs: members + keys.hash.bytes, hour: bytes)
    }
    knownNews = news
    return news
  }

  /// Fetches and imports the mailboxes and files of logs that are not as they are noted. What was refused is tried once
  /// more when others were taken: they may have brought its sender, or what it needs. Those of removed members are
  /// passed over.
  mutating func take(_ listed: [RemoteName: CarriedFile], from carrier: any Carrier) async throws {
    let members = try await replica.withKeyring { _, roster in
      Dictionary(roster.all.map { ($0.identity.replica, $0.isActive) }, uniquingKeysWith: { first, _ in first })
    }
    func isActive(_ name: RemoteName) -> Bool? { name.origin.flatMap { members[$0.replica] } }
    var intake = PassIntake()
    let ordered = listed.inOrder
    for (name, file) in ordered where try await isNew(file) {
      intake.add(file, name, isActive: isActive(name), note: notes[file.name])
    }
    var files = intake.files
    for file in files { try await take(file, from: carrier) }
    var again = Set(report.refused.map(\.name)).intersection(files.map(\.name))
    if try await takeEpochs(for: listed, from: carrier) {
      let tried = Set(files.map(\.name))
      var readable = PassIntake()
      for (name, file) in ordered where isActive(name) == true && !tried.contains(file.name) {
        if try await isNew(file) { readable.add(file, name, isActive: true, note: notes[file.name]) }
      }
      files += readable.files
      again.formUnion(readable.files.map(\.name))
    }
    again.formUnion(files.map(\.name).filter { notes[$0]?.code == RemoteNotes.File.incomplete })
    guard !again.isEmpty, !report.taken.isEmpty else { return }
    report.refused.removeAll { again.contains($0.name) }
    for file in files where again.contains(file.name) { try await take(file, from: carrier) }
  }

  /// Whether a file is to be fetched. One that was refused is, once what decided about that has changed.
  mutating func isNew(_ file: CarriedFile) async throws -> Bool {
    guard let note = notes[file.name] else { return true }
    // A file of a log is never another.
    let isNoted = RemoteName(file.name)?.logNumber != nil || note.tag == file.tag && !file.tag.isEmpty
    guard isNoted else { return true }
    if note.doubt != nil, isDue(note) { return true }
    guard !note.isTaken, let code = note.code.map({ GodwitError.Code(rawValue: $0) }) else { return false }
    if note.needsState, isRejoining { return true }
    return try await news().deciding(code, of: file.name) != note.news
  }

  /// After how long a file is fetched again of which the answer had another tag than the list, in milliseconds.
  private static let doubtTime: Int64 = 3_600_000

  /// Whether what was answered may be an earlier file than the one that was listed. A store may write its tags
  /// otherwise in answers, so an answer counts when it comes once more an hour later. Files with other names never
  /// change.
  private func isDoubtful(_ answer: CarriedFile, for file: CarriedFile) -> Bool {
    switch RemoteName(file.name) {
    case .mailbox, .state: break
    default: return false
    }
    // Without a tag it is fetched each time.
    guard !file.tag.isEmpty else { return false }
    guard answer.size == file.size else { return true }
    guard answer.tag != file.tag else { return false }
    guard let note = notes[file.name], note.tag == file.tag, isDue(note) else { return true }
    return note.doubt != answer.tag
  }

  /// Whether a doubtful file is to be fetched again.
  private func isDue(_ note: RemoteNotes.File) -> Bool { (now - note.at).magnitude >= Self.doubtTime }

  /// Fetches and imports one file; what is wrong with it is noted, and keeps nothing else from being taken. The list's
  /// tag is noted. Returns whether it is there and was taken.
  @discardableResult
  mutating func take(
    _ file: CarriedFile, isRejoining: Bool = false, from carrier: any Carrier
  ) async throws -> Bool {
    var note = RemoteNotes.File(name: file.name, tag: file.tag, at: now, news: [])
    let isEpoch = RemoteName(file.name)?.epochKey != nil
    let path = isEpoch ? folder.fetchedEpoch : folder.fetched
    do {
      guard let answer = try await fetch(file, to: path, from: carrier) else { return false }
      if isDoubtful(answer, for: file) { note.doubt = answer.tag }
      let taken = try await takeFetched(path, isRejoining: isRejoining, from: carrier)
      (note.ranges, note.sealed, note.base) = (taken.ranges, taken.sealed, taken.base?.bytes ?? [])
      report.taken.append(taken.report)
      knownNews = nil
      let hasLeftOut = taken.report.attention.leftOut.contains { $0.reason == .fenced }
      if taken.report.lacksMore { note.code = RemoteNotes.File.incomplete }
      if hasLeftOut { note.code = RemoteNotes.File.leftOut }
      if taken.needsState, !isEpoch {
        note.code = hasLeftOut ? RemoteNotes.File.mutual : GodwitError.Code.fenced.rawValue
      }
    } catch let error as GodwitError where error.refusesFile {
      note.code = error.code.rawValue
      // Earlier epochs are not for who came later.
      if error.code != .notARecipient {
        report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: error))
      } else if !isEpoch {
        let hint = "its sender's next sync seals it to all members of then"
        let known = GodwitError(.notARecipient, error.message, hint: hint, underlying: error.underlying)
        report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: known))
      }
    }
    if !note.isTaken, let code = note.code {
      note.news = try await news().deciding(GodwitError.Code(rawValue: code), of: file.name)
    }
    try await save(note)
    return note.isTaken
  }

  /// Milliseconds since 1970 UTC.
  var now: Int64 { replica.wallClock.milliseconds() }

  /// Imports a file under this replica's own name, which is noted otherwise. Returns whether it is the noted one.
  @discardableResult
  mutating func takeOwn(
    _ file: CarriedFile, from carrier: any Carrier, unless content: [UInt8] = []
  ) async throws -> Bool {
    let path = folder.fetched
    do {
      guard let answer = try await fetchOwn(file, from: carrier) else { return false }
      // The one that was listed may be the only one of what this machine has lost, and the next one replaces it.
      guard answer.size == file.size else {
        throw GodwitError(
          .unreachable, "the remote answers with another file than it lists as this replica's", hint: "try again later")
      }
      guard try await BlockingThread.run({ try LocalFile.hash(of: path).hash.bytes }) != content else { return true }
      report.taken.append(try await takeFetched(path, isRejoining: false, from: carrier).report)
      knownNews = nil
    } catch let error as GodwitError where error.refusesFile {
      // An earlier state of this replica may lack what its own mailbox is sealed to.
      if error.code == .notARecipient, epochs.listed == nil,
        try await takeEpochs(of: activeMembers(), from: carrier)
      {
        return try await takeOwn(file, from: carrier, unless: content)
      }
      var known = error
      if try await leavesOwn(file, error) {
        let way = error.hint ?? "update the program"
        let hint = "this replica may have been set back: \(way); the file stays for a day"
        known = GodwitError(error.code, error.message, hint: hint, underlying: error.underlying)
      }
      report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: known))
    }
    return false
  }

  /// Whether the own mailbox that was refused is left as it is: for a day, where it may be whole, since what this
  /// machine has lost may lie there alone. Later it counts as somebody's who may write there.
  private mutating func leavesOwn(_ file: CarriedFile, _ error: GodwitError) async throws -> Bool {
    guard !error.isOfNoMembersFile else { return false }
    var note = notes[file.name] ?? RemoteNotes.File(name: file.name, tag: nil, at: now, news: [])
    if note.doubt != file.tag {
      (note.doubt, note.at) = (file.tag, now)
      try await save(note)
    }
    guard (now - note.at).magnitude < Self.leavingTime else { return false }
    untaken = RemoteName(file.name)
    return true
  }

  /// For how long, in milliseconds.
  private static let leavingTime: Int64 = 86_400_000

  /// What a disk does not give of it may be the only one of what this machine has lost: it is not refused and replaced.
  private mutating func fetchOwn(_ file: CarriedFile, from carrier: any Carrier) async throws -> CarriedFile? {
    do {
      return try await fetch(file, to: folder.fetched, from: carrier)
    } catch let error as GodwitError where error.code == .truncatedFile {
      throw GodwitError(.unreachable, error.message, hint: error.hint, underlying: error)
    }
  }

  /// Brings a file to this replica's folder; nil when it is not there any more. The answer's size is that of what came,
  /// for not every store says it. What is listed as small enough for a stranger's file is not fetched beyond that.
  mutating func fetch(
    _ file: CarriedFile, to path: String, from carrier: any Carrier
  ) async throws -> CarriedFile? {
    let name = file.name
    let most = replica.tuning.remoteFileSize
    let limit = file.size > PassIntake.strangerLimit.bytes ? most : min(most, PassIntake.strangerLimit.bytes)
    let handler = handler(.fetching, total: file.size)
    let fetched = try await carrying(handler) { meter -> CarriedFile? in
      let pending = try PendingFile(replacing: path)
      guard let fetched = try carrier.read(name, into: pending, limit: limit, meter: meter) else { return nil }
      // Nothing depends on it after a power cut.
      try pending.commit(isDurable: false)
      return CarriedFile(name: name, size: try PrivateFile.open(path).size(), tag: fetched.tag)
    }
    if let fetched { report.fetchedBytes += fetched.size }
    return fetched
  }

  /// Takes a whole state when some mailbox showed that this replica needs one. Returns whether one was taken: it has
  /// replaced what other files had brought, so that they are to be taken once more.
  mutating func takeState(of listed: [RemoteName: CarriedFile], from carrier: any Carrier) async throws -> Bool {
    guard !lacking(listed).isEmpty else { return false }
    let states = try await list(RemoteName.states, on: carrier).filter {
      $0.key.origin?.replica != replica.identity.replica
    }
    for file in states.values.sorted(by: { $0.name < $1.name }) where !takenStates.contains(file.name) {
      guard try await isNew(file) else { continue }
      takenStates.insert(file.name)
      let count = report.taken.count
      try await take(file, isRejoining: isRejoining, from: carrier)
      if report.taken.dropFirst(count).contains(where: { $0.applied.state != nil }) {
        try await readNotes()
        epochs.listed = nil
        return true
      }
      for mailbox in lacking(listed) { try await take(mailbox, from: carrier) }
      if lacking(listed).isEmpty { return false }
    }
    report.findings.insert(.needsState)
    return false
  }

  /// The mailboxes that showed it.
  private func lacking(_ listed: [RemoteName: CarriedFile]) -> [CarriedFile] {
    listed.values.filter { file in
      notes[file.name].map { $0.tag == file.tag && $0.needsState } ?? false
    }.sorted { $0.name < $1.name }
  }
}

extension MergeReport {
  /// Whether the file has something that was neither applied nor waits, and that would not be so for good. What an
  /// incarnation has written beyond its end only others can bring.
  fileprivate var lacksMore: Bool {
    !attention.dropped.isEmpty || attention.leftOut.contains { $0.reason == .ended && $0.replica != sender }
  }
}

extension [RemoteName: CarriedFile] {
  /// The order in which files are taken: by their names, but of a log by its numbers.
  fileprivate var inOrder: [(key: RemoteName, value: CarriedFile)] {
    sorted { left, right in
      if let number = left.key.logNumber, let other = right.key.logNumber, left.key.origin == right.key.origin {
        return number < other
      }
      return left.value.name < right.value.name
    }
  }
}
