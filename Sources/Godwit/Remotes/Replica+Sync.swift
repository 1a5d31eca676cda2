import Foundation
import GodwitBase
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

extension Replica {
  /// Fetches what other members have published at remotes, and publishes what they may lack: both ways, one remote
  /// after another. What fails at one does not keep it from the next, and is in the report.
  ///
  /// A sync without news costs one request of each folder or store. Cancelling the task ends it between files, or
  /// within one, of which nothing is taken then; the next sync continues.
  ///
  /// - Parameters:
  ///   - names: The remotes; all of them when empty.
  ///   - isRejoining: Whether a state file may replace this replica's state when it lacks what all others have
  ///     forgotten, as ``rejoin(from:progress:)`` has it.
  ///   - isCollecting: Whether this replica keeps a log there, from which others fetch what they lack without looking
  ///     at every member's file: for large groups, by a machine that syncs often. It is a role, and no server: when
  ///     nobody has it, the others find that out and lose nothing.
  ///   - maximumBytesPerSecond: The most bytes that move in a second, with all remotes and in both directions
  ///     together, at least 1,000; nil for no limit. What TLS, ssh and the heads of requests add is not counted.
  ///   - progress: Called while bytes move.
  /// - Throws: `invalidArgument` for a name that no remote has, where there are none, and for a limit below 1,000;
  ///   `busy` while another process syncs this replica, or writes for longer than five seconds; `readOnly`; `closed`;
  ///   `diskFull`.
  public func sync(
    with names: [String] = [], isRejoining: Bool = false, isCollecting: Bool = false,
    maximumBytesPerSecond: Int? = nil, progress: SyncProgressHandler? = nil
  ) async throws -> SyncReport {
    let pace = try maximumBytesPerSecond.map { try TransferPace(bytesPerSecond: $0) }
    return try await sync(
      with: names, isRejoining: isRejoining, isCollecting: isCollecting, pace: pace, progress: progress)
  }

  /// The same at a pace of the caller's.
  ///
  /// - Parameter isSparing: Whether a sync without news is noted once an hour only, and others wait behind this one.
  func sync(
    with names: [String] = [], isRejoining: Bool = false, isCollecting: Bool = false, pace: TransferPace?,
    isSparing: Bool = false, progress: SyncProgressHandler? = nil
  ) async throws -> SyncReport {
    try await withRemotesFolder { folder in
      defer { for path in folder.allFetched { unlink(path) } }
      var reports: [SyncReport.Remote] = []
      for remote in try await remotes(named: names) {
        var pass = RemotePass(
          self, remote, folder, isRejoining: isRejoining, isCollecting: isCollecting, pace: pace,
          patience: isSparing ? .brief : StorePatience(), progress)
        reports.append(try await finish(&pass, isSparing: isSparing) { try await $0.run() })
      }
      return SyncReport(remotes: reports)
    }
  }

  /// All of them where none is named.
  private func remotes(named names: [String]) async throws -> [RemoteNotes.Remote] {
    let all = try await pool.read { try RemoteNotes($0).list() }
    guard !all.isEmpty else { throw GodwitError.noRemotes }
    guard !names.isEmpty else { return all }
    return try names.map { name in
      guard let remote = all.first(where: { $0.name == name }) else { throw GodwitError.noRemote(name, among: all) }
      return remote
    }
  }

  /// Syncs with a carrier of the caller's, for simulations. What is noted of the remote is kept under its name.
  package func sync(
    over carrier: any Carrier, as name: String, isRejoining: Bool = false, isCollecting: Bool = false
  ) async throws -> SyncReport.Remote {
    try await withRemotesFolder { folder in
      let known = try await pool.read { try RemoteNotes($0).list() }.first { $0.name == name }
      let remote = known ?? RemoteNotes.Remote(name: name, url: "", addedAt: wallClock.milliseconds())
      var pass = RemotePass(self, remote, folder, isRejoining: isRejoining, isCollecting: isCollecting, nil)
      return try await finish(&pass) { try await $0.run(over: carrier) }
    }
  }

  /// Runs a pass, and notes how it ended.
  private func finish(
    _ pass: inout RemotePass, isSparing: Bool = false, _ body: (inout RemotePass) async throws -> Void
  ) async throws -> SyncReport.Remote {
    let (start, former) = (ContinuousClock.now, pass.remote)
    do {
      try await body(&pass)
    } catch let error as GodwitError where !error.endsAllSyncs {
      pass.report.error = error
    }
    pass.report.duration = .now - start
    try await note(pass, unlessAs: isSparing ? former : nil)
    return pass.report
  }

  /// Notes how a pass ended, unless nothing moved, and the remote is as it was but for the time, of less than an hour
  /// ago.
  private func note(_ pass: RemotePass, unlessAs former: RemoteNotes.Remote?) async throws {
    var remote = pass.remote
    let now = wallClock.milliseconds()
    if let error = pass.report.error {
      let code = error.code.rawValue
      let since = remote.problem.flatMap { $0.code == code ? $0.since : nil }
      remote.problem = RemoteNotes.Problem(code: code, message: error.message, since: since ?? now)
      // One that fails as it did before is no news.
      logger.log(
        level: since == nil ? .warning : .debug, "sync failed",
        metadata: ["remote": "\(remote.name)", "code": "\(code)"])
    } else {
      remote.problem = nil
      remote.syncedAt = now
    }
    if !pass.report.findings.isEmpty { remote.found = (pass.report.findings.map(\.rawValue).sorted(), now) }
    let noted = remote
    let published = pass.report.published.map { $0.transactions > 0 || $0.isStateFile } ?? false
    let hasMoved = published || pass.report.taken.contains { $0.applied.transactions > 0 }
    if let former, !hasMoved, !noted.isNews(to: former) { return }
    try await noting { try $0.save(noted) }
  }
}

extension RemoteNotes.Remote {
  private static let noteInterval: Int64 = 3_600_000

  /// Whether anything differs but the time of the last sync, or that by an hour.
  fileprivate func isNews(to former: Self) -> Bool {
    let passed = (syncedAt ?? 0) - (former.syncedAt ?? 0)
    return problem != former.problem || found?.at != former.found?.at || neededSince != former.neededSince
      || logged != former.logged || !(0..<Self.noteInterval).contains(passed)
  }
}

extension GodwitError {
  /// There is nothing to sync with.
  package static var noRemotes: GodwitError {
    GodwitError(
      .invalidArgument, "this replica has no remote to sync with",
      hint: "add a folder or a bucket: godwit remote add NAME URL")
  }

  /// What is wrong here and not at a remote: the next one would meet it, too.
  fileprivate var endsAllSyncs: Bool {
    [.closed, .readOnly, .diskFull, .busy, .damagedDatabase, .damagedLog].contains(code)
  }

  /// Whether a file with it is damaged or somebody else's, rather than a member's that may be taken later.
  var isOfNoMembersFile: Bool {
    [
      .corruptFile, .truncatedFile, .invalidSignature, .otherGroup, .invalidKey, .notARecipient, .unknownSender,
    ].contains(code)
  }

  /// Of a file that nobody would fetch.
  static func tooLargeToFetch(_ limit: Int) -> GodwitError {
    GodwitError(
      .limitExceeded, "the file has more than \(limit) bytes, and is not fetched from a remote or a talk",
      hint: "carry it by hand: godwit export FILE, or godwit export --state FILE for who needs a state")
  }

  /// What is wrong with one file and leaves the others as they are.
  var refusesFile: Bool {
    [
      .notARecipient, .unknownSender, .unknownBase, .otherGroup, .invalidSignature, .corruptFile, .truncatedFile,
      .limitExceeded, .unsupportedVersion, .needsMigration, .migrationMismatch, .needsApplication, .importConstraint,
      .fenced,
      .invalidKey, .invalidSchema, .invalidMigration, .unverifiedIdentity,
    ].contains(code)
  }
}
