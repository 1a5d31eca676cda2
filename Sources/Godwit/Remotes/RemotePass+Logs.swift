import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

/// The times of logs (Specs/remotes.md, "Logs"), in milliseconds, and how much is done at once.
enum LogTimes {
  /// How many files a pass takes by their names, and puts.
  static let filesAtOnce: UInt32 = 1_000
  /// How far beyond the own last number a list is believed: anybody may put files there.
  static let reach: UInt32 = 1 << 20
  /// How often a collector writes a file when there is nothing new.
  static let beat: Int64 = 15 * 60_000
  /// After how long without a file a log is taken for one that nobody keeps any more.
  static let silence: Int64 = 3 * beat
  /// How long a collector may take to bring what this replica has published.
  static let patience: Int64 = 5 * 60_000
  /// How long a log is followed before mailboxes are looked at anyway: its collector may leave something out.
  static let trust: Int64 = 86_400_000
  /// How old the note of a mark may be that is not made anew.
  static let precision: Int64 = 3_600_000
  /// How long a file stays that all members have.
  static let shortest: Int64 = 86_400_000
  /// How long a file stays at most.
  static let longest: Int64 = 7 * shortest
}

// MARK: Following

extension RemotePass {
  /// Takes the next files of the log that is followed, by their names: a poll without news is one request, whatever
  /// lies there. False where everything is to be looked at.
  mutating func follow(as own: Origin, on carrier: any Carrier) async throws -> Bool {
    guard !keepsLog, !isRejoining, let log = try await followedLog(as: own) else { return false }
    // A stick that is not mounted looks as one without news.
    if carrier.mayBeAway { try await requireMarker(on: carrier) }
    let number = try await takeNext(of: log.origin, after: log.number, from: carrier)
    try await forgetLogs(but: .log(log.origin, number))
    let isRefused = number < .max && notes["\(RemoteName.log(log.origin, number + 1))"].map { !$0.isTaken } ?? false
    guard !isRefused, try await ownOrigin() == own else {
      report.refused = []
      return false
    }
    guard try await chooseKnownEpoch() else {
      report.refused = []
      return false
    }
    let others = try await present([:])
    let name = RemoteName.mailbox(own)
    let mailbox = try await spool(name, at: now, besides: others, passing: { _ in .all }, where: { _ in false }).mailbox
    guard notes["\(name)"]?.isOutdated(by: mailbox) ?? true else { return true }
    let found = try await carrying { try carrier.find("\(name)", meter: $0) }
    let standing = try await judge(found, of: own, on: carrier)
    guard standing == .asLeft || standing == .late else { return false }
    _ = try await publish(as: own, besides: others, isKept: true, wasLate: standing == .late, to: carrier)
    return true
  }

  /// Takes the files of a log behind one, by their names, until there is none, one is refused or is by somebody else.
  /// Returns the number of the last that was taken.
  private mutating func takeNext(
    of origin: Origin, after last: UInt32, from carrier: any Carrier
  ) async throws -> UInt32 {
    var number = last
    while number < .max, number - last < LogTimes.filesAtOnce {
      let next = CarriedFile(name: "\(RemoteName.log(origin, number + 1))", size: 0, tag: "")
      guard try await isNew(next), try await take(next, from: carrier) else { break }
      number += 1
      guard report.taken.last?.sender == origin.replica else { break }
    }
    return number
  }

  /// Whether others may follow the own log, and look at nothing else: a sync that brought them nothing would be unseen.
  func isFollowed(as own: Origin) -> Bool {
    notes["\(RemoteName.log(own, remote.logged))"].map { (now - $0.at).magnitude < LogTimes.silence } ?? false
  }

  /// The log of which a file was taken last, and the number of that; nil where that is long ago, where its collector
  /// does not bring what this replica has published, and once a day.
  private func followedLog(as own: Origin) async throws -> (origin: Origin, number: UInt32)? {
    let active = try await activeMembers()
    let taken = notes.values.compactMap { note -> (origin: Origin, number: UInt32, at: Int64)? in
      guard case .log(let origin, let number)? = RemoteName(note.name), note.isTaken,
        origin.replica != own.replica, active.contains(origin.replica)
      else { return nil }
      return (origin, number, note.at)
    }
    guard let latest = taken.max(by: { ($0.at, $0.origin, $0.number) < ($1.at, $1.origin, $1.number) }),
      (now - latest.at).magnitude < LogTimes.silence,
      let mark = notes["\(RemoteName.logMark(latest.origin))"], (now - mark.at).magnitude < LogTimes.trust,
      let published = notes["\(RemoteName.mailbox(own))"]
    else { return nil }
    if let last = published.ranges[own]?.upperBound, (now - published.at).magnitude >= LogTimes.patience {
      let collector = latest.origin.replica
      let known = replica.exporterMemory.acknowledgements
      let isBrought = try await replica.pool.read { connection in
        let incarnations = try KnownIncarnations(ChangeLog(connection), on: connection, known)
        return try incarnations.applied(by: collector).covers(Dot(own, last))
      }
      guard isBrought else { return nil }
    }
    return (latest.origin, latest.number)
  }

  /// Forgets what is noted of files that no collector keeps any more, but for the latest of a log.
  private mutating func forgetLogs(but latest: RemoteName?) async throws {
    for note in notes.values where now - note.at > LogTimes.longest {
      guard let name = RemoteName(note.name), name.logNumber != nil, name != latest,
        name.origin?.replica != replica.identity.replica
      else { continue }
      try await forget(note.name)
    }
  }

  /// Forgets what is noted of others' logs that have no mark any more.
  private mutating func forgetUnmarked(_ listed: [RemoteName: CarriedFile]) async throws {
    for note in notes.values {
      guard case .log(let origin, _)? = RemoteName(note.name), origin.replica != replica.identity.replica,
        listed[.logMark(origin)] == nil
      else { continue }
      try await forget(note.name)
    }
  }

  /// The files of logs, where a mark is another than the noted one or this replica keeps one; otherwise those that were
  /// refused.
  mutating func logs(
    markedIn listed: [RemoteName: CarriedFile], on carrier: any Carrier
  ) async throws -> [RemoteName: CarriedFile] {
    try await forgetUnmarked(listed)
    try await forgetLogs(but: nil)
    let own = replica.identity.replica
    let hasChanged = listed.contains { name, file in
      name.isLogMark && name.origin?.replica != own && notes[file.name]?.tag != file.tag
    }
    guard keepsLog || hasChanged else {
      return notes.values.reduce(into: [:]) { refused, note in
        guard let name = RemoteName(note.name), name.logNumber != nil, !note.isTaken else { return }
        refused[name] = CarriedFile(name: note.name, size: 0, tag: note.tag ?? "")
      }
    }
    let logs = try await list(RemoteName.logs, on: carrier).filter { $0.key.logNumber != nil }
    for note in notes.values {
      guard let name = RemoteName(note.name), name.logNumber != nil, logs[name] == nil, note.tag != nil else {
        continue
      }
      try await forget(note.name)
    }
    return logs
  }

  /// Notes the marks of the logs that were looked at, and when. A list may be old, so behind the last file that it
  /// showed the next one is asked for by its name; where it showed none the mark is not believed yet.
  mutating func noteMarks(_ listed: [RemoteName: CarriedFile], from carrier: any Carrier) async throws {
    guard listed.keys.contains(where: \.isLogMark) else { return }
    let lasts = notes.values.reduce(into: [Origin: UInt32]()) { lasts, note in
      guard let name = RemoteName(note.name), let origin = name.origin, let number = name.logNumber else { return }
      lasts[origin] = max(lasts[origin] ?? 0, number)
    }
    for (name, file) in listed where name.isLogMark {
      guard let origin = name.origin, origin.replica != replica.identity.replica else { continue }
      let hasChanged = notes[file.name]?.tag != file.tag
      if let note = notes[file.name], !hasChanged, (now - note.at).magnitude < LogTimes.precision { continue }
      guard let last = lasts[origin] else { continue }
      if hasChanged { _ = try await takeNext(of: origin, after: last, from: carrier) }
      try await save(RemoteNotes.File(name: file.name, tag: file.tag, at: now, news: []))
    }
  }
}

// MARK: Collecting

extension RemotePass {
  /// Puts what the log here does not have into its next files, and, if this replica is asked to collect, one now and
  /// then when there is nothing new.
  ///
  /// - Parameter listed: The files of all logs.
  mutating func log(beside listed: [RemoteName: CarriedFile], as own: Origin, to carrier: any Carrier) async throws {
    try await putMeant(as: own, to: carrier)
    let numbers = listed.keys.filter { $0.origin == own }.compactMap(\.logNumber)
    for _ in 0..<LogTimes.filesAtOnce {
      guard let (file, isLast) = try await logNext(after: numbers, as: own, to: carrier) else { break }
      report.publishedLog = report.publishedLog.map { $0.followed(by: file) } ?? file
      if isLast { break }
    }
    if report.publishedLog != nil { try await mark(remote.logged, as: own, on: carrier) }
  }

  /// Puts the next file, and returns whether nothing is left for another one; nil where there is nothing to say.
  private mutating func logNext(
    after listed: [UInt32], as own: Origin, to carrier: any Carrier
  ) async throws -> (ExportReport, isLast: Bool)? {
    let kept = notes.values.filter { note in
      guard case .log(own, _)? = RemoteName(note.name) else { return false }
      return note.tag != nil
    }
    let latest = kept.max { (RemoteName($0.name)?.logNumber ?? 0) < (RemoteName($1.name)?.logNumber ?? 0) }
    let isDue = isCollecting && latest.map { (now - $0.at).magnitude >= LogTimes.beat } ?? true
    let number = try nextNumber(listed)
    let name = RemoteName.log(own, number)
    let since = latest.map { $0.at - LogTimes.precision } ?? .min
    let bases = baseKeys
    let present = kept.filter { $0.isWhole(on: bases) }
    let limit = replica.tuning.logFileSize
    let written = try await spool(name, at: now, besides: present, within: limit) { _ in
      .since(since)
    } where: { mailbox in
      isDue || latest?.news != mailbox.news.bytes || !mailbox.ranges.ranges.isEmpty
    }
    guard let file = written.file else { return nil }
    remote.logged = number
    let noted = remote
    try await replica.noting { try $0.save(noted) }
    try await put(file, from: folder.spool(remote.name, name), code: nil, to: carrier)
    return (file.report, file.note.ranges.covers(written.mailbox.ranges))
  }

  /// The number behind all that this replica has used and that lie there.
  private func nextNumber(_ listed: [UInt32]) throws -> UInt32 {
    let (limit, isEndless) = remote.logged.addingReportingOverflow(LogTimes.reach)
    let (number, isOver) = listed.filter { isEndless || $0 <= limit }.reduce(remote.logged, max)
      .addingReportingOverflow(1)
    guard !isOver else {
      throw GodwitError(
        .limitExceeded, "the log here has no further number", hint: "collect at another folder or prefix")
    }
    return number
  }

  /// A file that was meant to be there when a pass ended early is put once more, byte for byte: whoever has taken it
  /// does not look at it again.
  private mutating func putMeant(as own: Origin, to carrier: any Carrier) async throws {
    for note in orderedNotes where note.tag == nil {
      guard let name = RemoteName(note.name), case .log(own, let number) = name else { continue }
      let spool = folder.spool(remote.name, name)
      let isThere = try await BlockingThread.run {
        try PrivateFile.exists(spool) && LocalFile.hash(of: spool).hash.bytes == note.content
      }
      guard isThere else {
        try await forget(note.name)
        continue
      }
      try await put(spool, as: note, code: nil, to: carrier)
      try await mark(number, as: own, on: carrier)
    }
  }

  private func mark(_ number: UInt32, as own: Origin, on carrier: any Carrier) async throws {
    let folder = folder
    try await carrying { meter in
      try folder.sending(Array("\(number)\n".utf8)) {
        _ = try carrier.write("\(RemoteName.logMark(own))", from: $0, meter: meter)
      }
    }
  }

  /// Removes own files that all members have, and those that have been there for long: who lacks them finds the same
  /// in mailboxes and states.
  mutating func tidyLog(as own: Origin, on carrier: any Carrier) async throws {
    let old = orderedNotes.filter { note in
      guard case .log(let origin, let number)? = RemoteName(note.name), origin.replica == own.replica else {
        return false
      }
      return now - note.at > LogTimes.shortest && !(origin == own && number == remote.logged)
    }
    guard !old.isEmpty else { return }
    let lacking = try await replica.withExporter(for: nil, .mailbox(besides: JoinedRanges())) { exporter, _ in
      try exporter.mailbox().ranges
    }
    for note in old where now - note.at > LogTimes.longest || !note.ranges.intersects(lacking) {
      try await carrying { try carrier.remove(note.name, meter: $0) }
      try await forget(note.name)
    }
  }
}
