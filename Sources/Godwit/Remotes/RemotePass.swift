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
  let progress: Replica.SyncProgressHandler?
  var remote: RemoteNotes.Remote
  var report: Replica.SyncReport.Remote
  /// What is noted of the remote's files, by their names.
  var notes: [String: RemoteNotes.File] = [:]

  /// The most bytes that are fetched of one file.
  static let fileLimit = 1 << 30

  init(
    _ replica: Replica, _ remote: RemoteNotes.Remote, _ folder: RemotesFolder, isRejoining: Bool,
    _ progress: Replica.SyncProgressHandler?
  ) {
    self.replica = replica
    self.remote = remote
    self.folder = folder
    self.isRejoining = isRejoining
    self.progress = progress
    report = Replica.SyncReport.Remote(name: remote.name)
  }

  mutating func run() async throws {
    let place = try RemoteURL(remote.url)
    let carrier = try await BlockingThread.run { try place.carrier() }
    defer { report.clockSkew = (carrier as? ObjectStoreCarrier)?.skew.map { .seconds($0) } }
    let (name, folder) = (remote.name, folder)
    try await BlockingThread.run { try folder.removeLeftovers(of: name) }
    notes = try await replica.pool.read { try RemoteNotes($0).files(of: name) }
    try await resend(to: carrier)
    let own = try await ownOrigin()
    var listed = try await list(RemoteName.mailboxes, on: carrier)
    let standing = try await judge(listed[.mailbox(own)], of: own)
    if listed[.mailbox(own)] == nil { try await requireMarker(at: place, on: carrier) }
    if standing == .late || standing == .asLeft { listed[.mailbox(own)] = nil }
    try await take(listed, from: carrier)
    // What came in may have begun a new incarnation.
    let writer = try await ownOrigin()
    switch standing {
    case .gone: report.findings.insert(.emptied)
    case .other: report.findings.insert(writer == own ? .rolledBack : .cloned)
    case .asLeft, .late, .unknown: break
    }
    try await takeState(from: carrier)
    let isKept = writer == own && (standing == .asLeft || standing == .late)
    try await publish(listed, as: writer, isKept: isKept, to: carrier)
    try await tidy(listed, own: writer, on: carrier)
  }

  /// How this replica's mailbox stands, compared with what it left there.
  private enum Standing {
    /// Nothing is noted of one.
    case unknown
    case asLeft
    /// It was published, and no list has shown it yet: lists may be old.
    case late
    case gone
    case other
  }

  /// A list that does not show what was just published is believed the second time.
  private mutating func judge(_ file: CarriedFile?, of own: Origin) async throws -> Standing {
    guard var note = notes["\(RemoteName.mailbox(own))"] else { return .unknown }
    guard file?.tag != note.tag else {
      if note.code != nil {
        note.code = nil
        try await save(note)
      }
      return .asLeft
    }
    guard note.code == RemoteNotes.File.new else { return file == nil ? .gone : .other }
    note.code = RemoteNotes.File.late
    try await save(note)
    return .late
  }

  private func ownOrigin() async throws -> Origin {
    try await replica.pool.read { try OriginTable($0).own }
  }

  /// The files of a folder that have names of Godwit's.
  func list(_ folder: String, on carrier: any Carrier) async throws -> [RemoteName: CarriedFile] {
    let files = try await replica.carrying { _ in try carrier.list(folder) }
    return files.reduce(into: [:]) { listed, file in
      if let name = RemoteName(file.name) { listed[name] = file }
    }
  }

  /// A remote without this replica's mailbox may be new, emptied, another group's, or not mounted.
  private mutating func requireMarker(at place: RemoteURL, on carrier: any Carrier) async throws {
    let (marker, folder) = (RemoteMarker(replica.group), folder)
    let isThere = try await replica.carrying { try marker.check(on: carrier, meter: $0) }
    guard !isThere else { return }
    if case .folder = place { throw GodwitError.markerMissing(remote.name, place) }
    try await replica.carrying { try marker.write(to: carrier, by: folder, meter: $0) }
  }

  /// Puts again what was meant to be published and is not noted as such: the same bytes, so that it does not matter
  /// whether they came through.
  private mutating func resend(to carrier: any Carrier) async throws {
    for note in notes.values where note.tag == nil {
      guard let name = RemoteName(note.name) else { continue }
      let spool = folder.spool(remote.name, name)
      guard PrivateFile.exists(spool) else {
        try await forget(note.name)
        continue
      }
      try await put(spool, as: note, to: carrier)
    }
  }

  /// Puts a spooled file under its name, and notes that it is there.
  mutating func put(_ spool: String, as note: RemoteNotes.File, to carrier: any Carrier) async throws {
    let total = try FileDescriptor.openPlainForReading(spool).size()
    let handler = handler(.publishing, total: total)
    let name = note.name
    let put = try await replica.carrying(handler) { try carrier.write(name, from: spool, meter: $0) }
    var published = note
    published.tag = put.tag
    published.code = RemoteNotes.File.new
    try await save(published)
    try await BlockingThread.run { try RemotesFolder.remove(spool) }
  }

  func handler(_ direction: Replica.SyncProgress.Direction, total: Int) -> (@Sendable (Int) -> Void)? {
    guard let progress else { return nil }
    let remote = remote.name
    return { progress(Replica.SyncProgress(remote: remote, direction: direction, bytes: min($0, total), total: total)) }
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
