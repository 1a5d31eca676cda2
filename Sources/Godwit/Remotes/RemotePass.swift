import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

/// One sync with one remote, step by step (Specs/remotes.md, "A pass").
struct RemotePass {
  let replica: Replica
  let folder: RemotesFolder
  let isRejoining: Bool
  /// Whether this replica is asked to keep a log there of all that it takes.
  let isCollecting: Bool
  /// Whether it keeps one: because it is asked to, or because others may still follow the one that it has kept.
  private(set) var keepsLog = false
  /// How fast bytes may move.
  let pace: TransferPace?
  let patience: StorePatience
  let progress: Replica.SyncProgressHandler?
  var remote: RemoteNotes.Remote
  var report: Replica.SyncReport.Remote
  /// What is noted of the remote's files, by their names.
  var notes: [String: RemoteNotes.File] = [:]
  /// Nil until it is asked for, and again once something was taken.
  var knownNews: News?
  /// The bases that lie there, once they were listed.
  var listedBases: [RemoteName: CarriedFile]?
  /// Whether a base is being taken that another one builds on.
  var isTakingRoot = false
  var epochs = PassEpochs()
  /// The states that were fetched: each once, whatever a list says of it.
  var takenStates: Set<String> = []
  /// The own mailbox that is there and cannot be taken yet; it is not replaced.
  var untaken: RemoteName?
  /// Why the own mailbox was not published, which keeps states and logs from nothing.
  var unpublished: GodwitError?

  init(
    _ replica: Replica, _ remote: RemoteNotes.Remote, _ folder: RemotesFolder, isRejoining: Bool,
    isCollecting: Bool, pace: TransferPace? = nil, patience: StorePatience = StorePatience(),
    _ progress: Replica.SyncProgressHandler?
  ) {
    self.replica = replica
    self.remote = remote
    self.folder = folder
    self.isRejoining = isRejoining
    self.isCollecting = isCollecting
    self.pace = pace
    self.patience = patience
    self.progress = progress
    report = Replica.SyncReport.Remote(name: remote.name)
  }

  mutating func run() async throws {
    let place = try RemoteURL(remote.url)
    guard let carrier = try await BlockingThread.run({ [patience] in try place.carrier(patience) }) else {
      return try await talk(at: place)
    }
    let counted = CountedCarrier(carrier)
    defer { report.requests = counted.counts }
    try await run(over: counted)
  }

  mutating func run(over carrier: any Carrier) async throws {
    let (name, folder) = (remote.name, folder)
    try await BlockingThread.run { try folder.removeLeftovers(of: name) }
    try await readNotes()
    let own = try await ownOrigin()
    keepsLog = isCollecting || isFollowed(as: own)
    if try await !follow(as: own, on: carrier) { try await runWhole(as: own, over: carrier) }
    if let unpublished { throw unpublished }
  }

  /// Looks at all that is there.
  private mutating func runWhole(as own: Origin, over carrier: any Carrier) async throws {
    let listed = try await list(RemoteName.mailboxes, on: carrier)
    if carrier.mayBeAway || listed[.mailbox(own)] == nil { try await requireMarker(on: carrier) }
    let standing = try await judge(listed[.mailbox(own)], of: own, on: carrier)
    let mailboxes = listed.filter { $0.key.isMailbox && $0.key != .mailbox(own) }
    try await forgetNotes(besides: listed, of: own)
    var logs = try await logs(markedIn: listed, on: carrier)
    try await take(mailboxes.merging(logs) { first, _ in first }, from: carrier)
    while try await takeState(of: mailboxes.merging(epochs.listed ?? [:]) { first, _ in first }, from: carrier) {
      // What was taken before may not be in the state, nor what this replica's own mailbox has passed on.
      if let file = listed[.mailbox(own)] { try await takeOwn(file, from: carrier) }
      logs = try await self.logs(markedIn: listed, on: carrier)
      try await take(mailboxes.merging(logs) { first, _ in first }, from: carrier)
    }
    try await noteMarks(listed, from: carrier)
    // What came in may have begun a new incarnation, as rejoining does.
    let writer = try await ownOrigin()
    let isCopied = writer != own && !report.taken.contains { $0.applied.state != nil }
    switch standing {
    case .gone: report.findings.insert(.emptied)
    case .other: report.findings.insert(isCopied ? .cloned : .rolledBack)
    case .asLeft, .late, .unknown: if isCopied { report.findings.insert(.cloned) }
    }
    try await lookAtShared(isDue: standing == .gone || standing == .other, on: carrier)
    try await chooseEpoch()
    try await publishEpochs(as: writer, to: carrier)
    let isKept = writer == own && (standing == .asLeft || standing == .late)
    let neededState = try await publish(
      as: writer, besides: try await present(mailboxes), isKept: isKept, wasLate: standing == .late, to: carrier)
    try await publishState(neededState, as: writer, to: carrier)
    if keepsLog { try await log(beside: logs, as: writer, to: carrier) }
    // What is to be removed may be what the mailbox would have passed on.
    guard unpublished == nil else { return }
    try await tidyLog(as: writer, on: carrier)
    try await tidyBases(on: carrier)
    try await tidyEpochs(on: carrier)
    try await tidy(listed, own: writer, on: carrier)
  }

  /// How this replica's mailbox stands, compared with what it left there.
  enum Standing {
    /// Nothing is noted of one, or only that one was meant to be published.
    case unknown
    case asLeft
    /// It was published, and no list has shown it yet: lists may be old.
    case late
    case gone
    case other
  }

  /// For how long a list may not show what was published, in milliseconds.
  private static let lateTime: Int64 = 600_000

  /// A file with another tag than the noted one may have the same bytes; if not, it is imported as anybody's: it may be
  /// a copy's of this machine, or the only one of what this machine has lost. A list that does not show what was just
  /// published is believed the second time, or some minutes later.
  mutating func judge(
    _ file: CarriedFile?, of own: Origin, on carrier: any Carrier
  ) async throws -> Standing {
    let name = "\(RemoteName.mailbox(own))"
    guard var note = notes[name] else {
      if let file { try await takeOwn(file, from: carrier) }
      return .unknown
    }
    if let file {
      var isSame = note.tag == file.tag
      if !isSame {
        isSame = try await takeOwn(file, from: carrier, unless: note.content)
        note = notes[name] ?? note
      }
      if isSame {
        guard note.tag != file.tag || note.code != nil || note.doubt != nil else { return .asLeft }
        (note.tag, note.code, note.doubt) = (file.tag, nil, nil)
        try await save(note)
        return .asLeft
      }
    }
    guard note.tag != nil else { return .unknown }
    let isFresh = note.code == RemoteNotes.File.new && (now - note.at).magnitude < Self.lateTime
    guard isFresh else { return file == nil ? .gone : .other }
    note.code = RemoteNotes.File.late
    try await save(note)
    return .late
  }

  /// Forgets what is noted of others' mailboxes and marks that are not there any more, and of mailboxes of members that
  /// were removed.
  private mutating func forgetNotes(besides listed: [RemoteName: CarriedFile], of own: Origin) async throws {
    let removed = try await replica.withKeyring { _, roster in
      Set(roster.all.lazy.filter { !$0.isActive }.map(\.identity.replica))
    }
    for note in notes.values {
      guard let name = RemoteName(note.name), name.isMailbox || name.isLogMark, name != .mailbox(own) else { continue }
      let isRemoved = name.isMailbox && name.origin.map { removed.contains($0.replica) } ?? false
      if isRemoved || listed[name] == nil { try await forget(note.name) }
    }
  }

  /// The notes in a firm order: where each leads to a request, a sync that is run again makes the same ones.
  var orderedNotes: [RemoteNotes.File] { notes.values.sorted { ($0.at, $0.name) < ($1.at, $1.name) } }

  mutating func readNotes() async throws {
    let name = remote.name
    notes = try await replica.pool.read { try RemoteNotes($0).files(of: name) }
  }

  func ownOrigin() async throws -> Origin {
    try await replica.pool.read { try OriginTable($0).own }
  }

  /// Runs calls of a carrier on a thread that may block, at the pace of this sync.
  func carrying<Output: Sendable>(
    _ handler: (@Sendable (Int) -> Void)? = nil, _ body: @escaping @Sendable (TransferMeter) throws -> Output
  ) async throws -> Output {
    try await replica.carrying(pace: pace, handler, body)
  }

  /// The files of a folder that have names of Godwit's. Those that cannot be read here are reported.
  mutating func list(_ folder: String, on carrier: any Carrier) async throws -> [RemoteName: CarriedFile] {
    let files = try await carrying { try carrier.list(folder, meter: $0) }
    var listed: [RemoteName: CarriedFile] = [:]
    for file in files {
      guard let name = RemoteName(file.name) else { continue }
      if file.isReadable {
        listed[name] = file
      } else {
        if name.origin?.replica == replica.identity.replica { try await requireMode(of: file.name, on: carrier) }
        let error = GodwitError(
          .refused, "it cannot be read here",
          hint: "its owner has to allow that: chmod a+r, or a group's folder; if what it lies on is damaged, remove it")
        report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: error))
      }
    }
    return listed
  }

  /// Throws what keeps this replica's own file from being read, unless it is its mode: a disk may give it later, and
  /// the next file would replace what may be the only one.
  private func requireMode(of name: String, on carrier: any Carrier) async throws {
    do {
      _ = try await carrying { try carrier.find(name, meter: $0) }
    } catch let error as GodwitError where error.code == .refused {}
  }

  /// A remote without this replica's mailbox may be new, emptied, another group's, or not mounted. What is copied by
  /// others may have the mailbox and no marker.
  mutating func requireMarker(on carrier: any Carrier) async throws {
    let (marker, folder) = (RemoteMarker(replica.group), folder)
    let isThere = try await carrying { try marker.check(on: carrier, meter: $0) }
    guard !isThere else { return }
    guard !carrier.mayBeAway else { throw GodwitError.markerMissing(remote.name, remote.url) }
    try await carrying { try marker.write(to: carrier, by: folder, meter: $0) }
  }

  /// Puts a spooled file under its name, and notes that it is there; before that, that it is meant to be: whether the
  /// file comes through is found by its content.
  ///
  /// - Parameter code: What the note has until a list has shown the file.
  mutating func put(_ spool: String, as file: RemoteNotes.File, code: String?, to carrier: any Carrier) async throws {
    var note = file
    let (hash, total) = try await BlockingThread.run { try LocalFile.hash(of: spool) }
    guard total <= replica.tuning.remoteFileSize else {
      throw GodwitError.tooLargeToFetch(replica.tuning.remoteFileSize)
    }
    (note.tag, note.content) = (nil, hash.bytes)
    try await save(note)
    let handler = handler(.publishing, total: total)
    let name = note.name
    note.tag = try await carrying(handler) { try carrier.write(name, from: spool, meter: $0) }.tag
    note.code = code
    try await save(note)
    try await BlockingThread.run { try RemotesFolder.remove(spool) }
  }

  func handler(_ direction: Replica.SyncProgress.Direction, total: Int) -> (@Sendable (Int) -> Void)? {
    guard let progress else { return nil }
    let remote = remote.name
    return {
      // How large the next file of a log is nobody has said.
      let (bytes, total) = total > 0 ? (min($0, total), total) : ($0, $0)
      progress(Replica.SyncProgress(remote: remote, direction: direction, bytes: bytes, total: total))
    }
  }

  mutating func save(_ note: RemoteNotes.File) async throws {
    notes[note.name] = note
    let remote = remote.name
    try await replica.noting { try $0.note(note, of: remote) }
  }

  mutating func forget(_ name: String) async throws {
    notes[name] = nil
    let remote = remote.name
    try await replica.noting { try $0.forget(name, of: remote) }
  }
}
