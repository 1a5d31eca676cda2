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
  ///   - progress: Called while bytes move.
  /// - Throws: `invalidArgument` for a name that no remote has, and where there are none; `busy` while another process
  ///   syncs this replica, or writes for longer than five seconds; `readOnly`; `closed`; `diskFull`.
  public func sync(
    with names: [String] = [], isRejoining: Bool = false, progress: SyncProgressHandler? = nil
  ) async throws -> SyncReport {
    let folder = try await remotesFolder()
    let lock = try await BlockingThread.run { try folder.lock() }
    defer {
      unlink(folder.fetched)
      withExtendedLifetime(lock) {}
    }
    let all = try await pool.read { try RemoteNotes($0).list() }
    guard !all.isEmpty else {
      throw GodwitError(
        .invalidArgument, "this replica has no remote to sync with",
        hint: "add a folder or a bucket: godwit remote add NAME URL")
    }
    let remotes =
      try names.isEmpty
      ? all
      : names.map { name in
        guard let remote = all.first(where: { $0.name == name }) else { throw GodwitError.noRemote(name, among: all) }
        return remote
      }
    var reports: [SyncReport.Remote] = []
    for remote in remotes {
      var pass = RemotePass(self, remote, folder, isRejoining: isRejoining, progress)
      do {
        try await pass.run()
      } catch let error as GodwitError where !error.endsAllSyncs {
        pass.report.error = error
      }
      try await note(pass)
      reports.append(pass.report)
    }
    return SyncReport(remotes: reports)
  }

  /// Notes how a pass ended.
  private func note(_ pass: RemotePass) async throws {
    var remote = pass.remote
    let now = wallClock.milliseconds()
    if let error = pass.report.error {
      let code = error.code.rawValue
      let since = remote.problem.flatMap { $0.code == code ? $0.since : nil } ?? now
      remote.problem = RemoteNotes.Problem(code: code, message: error.message, since: since)
      logger.warning("sync failed", metadata: ["remote": "\(remote.name)", "code": "\(code)"])
    } else {
      remote.problem = nil
      remote.syncedAt = now
    }
    if !pass.report.findings.isEmpty { remote.found = (pass.report.findings.map(\.rawValue).sorted(), now) }
    let noted = remote
    try await noting { try $0.save(noted) }
  }
}

extension GodwitError {
  /// What is wrong here and not at a remote: the next one would meet it, too.
  fileprivate var endsAllSyncs: Bool {
    [.closed, .readOnly, .diskFull, .busy, .damagedDatabase, .damagedLog].contains(code)
  }

  /// What is wrong with one file and leaves the others as they are.
  var refusesFile: Bool {
    [
      .notARecipient, .unknownSender, .otherGroup, .invalidSignature, .corruptFile, .truncatedFile, .limitExceeded,
      .unsupportedVersion, .needsMigration, .migrationMismatch, .needsApplication, .importConstraint, .fenced,
      .invalidKey, .invalidSchema, .missingVolume, .wrongVolume, .invalidMigration, .unverifiedIdentity,
    ].contains(code)
  }
}
