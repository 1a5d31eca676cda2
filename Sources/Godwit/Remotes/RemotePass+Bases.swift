import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage
import GodwitSyncFile

// What files of a large group have in common (Specs/remotes.md, "Large groups").

/// The times of bases, in milliseconds.
private enum BaseTimes {
  /// How often it is looked whether they are there.
  static let look: Int64 = 86_400_000
  /// How long one stays that no noted file builds on: another member may just be about to.
  static let stay: Int64 = 7 * look
}

// MARK: Taking

extension RemotePass {
  /// Imports a file that was fetched, and before it the one that it builds on, where that is not here. It is not
  /// fetched once more: an earlier one might come.
  mutating func takeFetched(
    _ path: String, isRejoining: Bool, from carrier: any Carrier
  ) async throws -> Replica.TakenFile {
    do {
      return try await used(try await replica.take(fetched: path, isRejoining: isRejoining), on: carrier)
    } catch let error as GodwitError where error.code == .unknownBase {
      guard let base = (error.underlying as? UnknownBase)?.hash, try await takeBase(base, from: carrier)
      else { throw error }
      return try await used(try await replica.take(fetched: path, isRejoining: isRejoining), on: carrier)
    }
  }

  /// Notes that the file's base is in use, and that it is there, where only the database had it.
  private mutating func used(
    _ file: Replica.TakenFile, on carrier: any Carrier
  ) async throws -> Replica.TakenFile {
    guard let base = file.base else { return file }
    let root = try await use(base)
    guard !baseKeys.contains(base.key) else { return file }
    for (name, listed) in try await bases(on: carrier) {
      guard case .base(_, let key) = name, key == base.key || key == root?.key else { continue }
      // What is kept whole may be short in its file, and who builds on it must know.
      guard root != nil else {
        _ = try await takeBase(listed, from: carrier)
        continue
      }
      var note = RemoteNotes.File(name: listed.name, tag: listed.tag, at: now, news: [])
      note.sealed = file.sealed
      if key == base.key { note.base = root?.bytes ?? [] }
      try await save(note)
    }
    return file
  }

  /// Notes that a file builds on a base. Returns what that builds on itself; nil for a whole one.
  private func use(_ base: ContentHash) async throws -> ContentHash? {
    let now = now
    return try await replica.withWriter { writer in
      let bases = HeaderBases(writer.connection)
      try writer.connection.writing { try bases.use(base, at: now) }
      return try bases.base(of: base)
    }
  }

  /// Fetches and imports a base, and keeps its header. False where it is not there, or is another one. Whoever put it:
  /// a newcomer's file introduces it.
  private mutating func takeBase(_ hash: ContentHash, from carrier: any Carrier) async throws -> Bool {
    for (name, file) in try await bases(on: carrier).sorted(by: { $0.value.name < $1.value.name }) {
      // One that was refused in this pass would be so for every file that builds on it.
      guard case .base(_, hash.key) = name, file.size <= PassIntake.strangerLimit.bytes,
        !report.refused.contains(where: { $0.name == file.name }),
        try await takeBase(file, from: carrier) == hash
      else { continue }
      return true
    }
    return false
  }

  /// The hash of the header that the file has; nil where it cannot be taken, or is not what its name says.
  private mutating func takeBase(_ file: CarriedFile, from carrier: any Carrier) async throws -> ContentHash? {
    var note = RemoteNotes.File(name: file.name, tag: file.tag, at: now, news: [])
    var hash: ContentHash?
    do {
      guard try await fetch(file, to: folder.fetchedBase, from: carrier) != nil else { return nil }
      guard let taken = try await takeBase(fetched: file, from: carrier) else { return nil }
      report.taken.append(taken.report)
      knownNews = nil
      (note.sealed, note.base) = (taken.sealed, taken.base?.bytes ?? [])
      // Another file by that name may be the whole one.
      guard !isTakingRoot || taken.base == nil else {
        try await save(note)
        return nil
      }
      if let header = taken.header { hash = try await keep(header, on: taken.base, by: taken.report.sender) }
      if case .base(_, let key)? = RemoteName(file.name), hash?.key != key {
        (note.code, hash) = (GodwitError.Code.corruptFile.rawValue, nil)
      }
    } catch let error as GodwitError where error.refusesFile {
      if error.code == .notARecipient, epochs.listed == nil,
        try await takeEpochs(of: activeMembers(), from: carrier)
      {
        return try await takeBase(file, from: carrier)
      }
      note.code = error.code.rawValue
      report.refused.append(Replica.SyncReport.Refusal(name: file.name, error: error))
    }
    try await save(note)
    return hash
  }

  /// Imports the base that was fetched, and before it the one that it builds on, where that is not here. Nil where it
  /// is gone meanwhile.
  private mutating func takeBase(
    fetched file: CarriedFile, from carrier: any Carrier
  ) async throws -> Replica.TakenFile? {
    do {
      return try await replica.take(fetched: folder.fetchedBase)
    } catch let error as GodwitError where error.code == .unknownBase && !isTakingRoot {
      isTakingRoot = true
      defer { isTakingRoot = false }
      guard let root = (error.underlying as? UnknownBase)?.hash, try await takeBase(root, from: carrier) else {
        throw error
      }
      guard try await fetch(file, to: folder.fetchedBase, from: carrier) != nil else { return nil }
      return try await replica.take(fetched: folder.fetchedBase)
    }
  }

  /// The hash by which others name it; nil for one that builds on what is no whole one.
  private func keep(_ header: [UInt8], on base: ContentHash?, by sender: ReplicaID) async throws -> ContentHash? {
    let (now, group, known) = (now, replica.group, replica.exporterMemory.bases)
    return try await replica.withWriter { writer in
      let bases = HeaderBases(writer.connection)
      var hash: ContentHash?
      try writer.connection.writing {
        hash = try bases.keep(header, on: base, by: sender, in: group, at: now) {
          try known.find($0, in: group, among: bases)?.header
        }
      }
      return hash
    }
  }

  /// What lies there, listed once in a pass.
  private mutating func bases(on carrier: any Carrier) async throws -> [RemoteName: CarriedFile] {
    if let listedBases { return listedBases }
    let listed = try await list(RemoteName.bases, on: carrier)
    listedBases = listed
    return listed
  }
}

// MARK: Publishing

extension RemotePass {
  /// A file that is on its way.
  struct SpooledFile: Sendable {
    var note: RemoteNotes.File
    let report: ExportReport
    /// A base that was made for it and must be there first.
    var base: (note: RemoteNotes.File, made: Exporter.MadeBase)?
  }

  /// Writes a file that builds on a base that is there, or on a new one.
  static func spoolShort(
    _ exporter: Exporter, _ note: RemoteNotes.File, to path: String, on noted: [RemoteNotes.File], growth: Double,
    _ makeDurable: Replica.MakeDurable, basePath: @escaping (RemoteName) -> String
  ) throws -> SpooledFile {
    var baseName: RemoteName?
    let file = try PendingFile(replacing: path)
    // What is sealed to others is no help to all whom this file is for.
    let carried = noted.filter { $0.sealed == note.sealed }.wholeBases
    let written = try exporter.export(
      on: { carried[$0.key] }, growth: growth, to: file, makeDurable: makeDurable
    ) { own, hash, write in
      let name = RemoteName.base(own, hash: hash.key)
      baseName = name
      let file = try PendingFile(replacing: basePath(name))
      try write(file)
      try file.commit()
    }
    try file.commit()
    var spooled = SpooledFile(note: note, report: written.report)
    (spooled.note.ranges, spooled.note.base) = (written.report.ranges, written.base?.bytes ?? [])
    if let baseName, let made = written.made {
      var base = RemoteNotes.File(name: "\(baseName)", tag: nil, at: note.at, news: [])
      (base.sealed, base.base) = (note.sealed, made.base?.bytes ?? [])
      spooled.base = (base, made)
    }
    return spooled
  }

  /// Puts a file, and first the base that was made for it.
  mutating func put(_ file: SpooledFile, from spool: String, code: String?, to carrier: any Carrier) async throws {
    if let base = file.base, let name = RemoteName(base.note.name) {
      _ = try await keep(base.made.header, on: base.made.base, by: replica.identity.replica)
      try await put(folder.spool(remote.name, name), as: base.note, code: nil, to: carrier)
      report.publishedBaseBytes += base.made.bytes
    }
    try await put(spool, as: file.note, code: code, to: carrier)
    if let base = ContentHash(bytes: file.note.base) { _ = try await use(base) }
  }

  /// The bases that are there, as far as is known.
  var presentBases: [RemoteNotes.File] {
    notes.values.filter { $0.isTaken && $0.tag != nil && $0.baseKey != nil }
  }

  /// The first digits of the hashes of those that are there with what they build on.
  var baseKeys: Set<String> { Set(presentBases.wholeBases.keys) }

  /// Whether what a file builds on is there, as far as is known.
  func hasBase(of note: RemoteNotes.File) -> Bool { note.isWhole(on: baseKeys) }
}

extension [RemoteNotes.File] {
  /// Those bases among them whose own base is among them, too, by the first digits of their hashes.
  fileprivate var wholeBases: [String: Exporter.CarriedBase] {
    let roots = Set(filter(\.base.isEmpty).compactMap(\.baseKey))
    return filter { $0.isWhole(on: roots) }.reduce(into: [:]) { bases, note in
      guard let key = note.baseKey else { return }
      let other = bases[key]
      bases[key] = Exporter.CarriedBase(
        at: Swift.max(other?.at ?? .min, note.at), isWhole: note.base.isEmpty && other?.isWhole ?? true)
    }
  }
}

extension RemoteNotes.File {
  /// The first digits of the hash of the base that the file is; nil for another file.
  fileprivate var baseKey: String? {
    guard case .base(_, let key)? = RemoteName(name) else { return nil }
    return key
  }

  /// Whether what it builds on is among these.
  func isWhole(on keys: Set<String>) -> Bool {
    base.isEmpty || ContentHash(bytes: base).map { keys.contains($0.key) } ?? false
  }
}

// MARK: Care

extension RemotePass {
  /// Looks once a day whether bases and epochs are there, and when this replica's mailbox is not as it was left.
  mutating func lookAtShared(isDue: Bool, on carrier: any Carrier) async throws {
    let noted = orderedNotes.compactMap { note in RemoteName(note.name).map { (name: $0, note: note) } }
    let (bases, epochs) = (noted.filter(\.name.isBase), noted.filter { $0.name.epochKey != nil })
    let last = notes[RemoteName.bases].map { now - $0.at } ?? .max
    guard !(bases + epochs).isEmpty, isDue || last.magnitude >= BaseTimes.look else { return }
    if !bases.isEmpty {
      let listed = try await self.bases(on: carrier)
      for (name, note) in bases { try await look(at: note, listed[name], on: carrier) }
    }
    if !epochs.isEmpty {
      let listed = try await list(RemoteName.epochs, on: carrier)
      for (name, note) in epochs { try await look(at: note, listed[name], on: carrier) }
    }
    try await save(RemoteNotes.File(name: RemoteName.bases, tag: nil, at: now, news: []))
  }

  /// Forgets what is noted of a file that is gone or another one. A list may show another tag than the answer did when
  /// an own file was put; then its content decides.
  mutating func look(
    at note: RemoteNotes.File, _ file: CarriedFile?, on carrier: any Carrier
  ) async throws {
    guard file?.tag != note.tag else { return }
    let path = folder.fetchedBase
    guard let file, !note.content.isEmpty, try await isFetched(file, to: path, from: carrier),
      try await BlockingThread.run({ try LocalFile.hash(of: path).hash.bytes }) == note.content
    else { return try await forget(note.name) }
    var same = note
    same.tag = file.tag
    try await save(same)
  }

  /// False for one that is gone, or too large to be one of this replica's.
  private mutating func isFetched(
    _ file: CarriedFile, to path: String, from carrier: any Carrier
  ) async throws -> Bool {
    do {
      return try await fetch(file, to: path, from: carrier) != nil
    } catch let error as GodwitError where error.refusesFile {
      return false
    }
  }

  /// Removes this replica's bases that no noted file builds on.
  mutating func tidyBases(on carrier: any Carrier) async throws {
    let used = Set(notes.values.compactMap { ContentHash(bytes: $0.base)?.key })
    for note in orderedNotes where now - note.at > BaseTimes.stay {
      guard case .base(let origin, let key)? = RemoteName(note.name), origin.replica == replica.identity.replica,
        !used.contains(key)
      else { continue }
      try await carrying { try carrier.remove(note.name, meter: $0) }
      try await forget(note.name)
    }
  }
}

extension ContentHash {
  /// What stands for it in a name: its first 16 digits.
  var key: String { String(Hexadecimal.encode(bytes).prefix(16)) }
}
