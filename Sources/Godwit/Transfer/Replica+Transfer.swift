import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitReplication
import GodwitStorage
import GodwitSyncFile

extension Replica {
  /// Writes what other members may lack as a sync file that only they and this replica can open.
  ///
  /// - Parameters:
  ///   - destination: A file, which appears whole or not at all, or the standard output.
  ///   - member: The one member the file is for; by default all of them.
  ///   - includesAll: Whether to include what the others are known to hold.
  ///   - progress: Hears how much is done.
  /// - Throws: `invalidArgument` for an unknown member, `diskFull`, `fileAccess`.
  public func export(
    to destination: SyncDestination, for member: String? = nil, includesAll: Bool = false,
    progress: ProgressHandler? = nil
  ) async throws -> ExportReport {
    let (identity, roster) = try await withKeyring { contents, roster in (contents.identity, roster) }
    let targets = roster.active.filter { member == nil || $0.name == member }
    guard !targets.isEmpty else {
      throw GodwitError(
        .invalidArgument, "no active member is called \(member ?? "")", hint: "see: godwit member list")
    }
    let database = folder.database
    let anchor = folder.anchor
    let createdAt = wallClock.milliseconds()
    let report = try await pool.read { connection in
      let exporter = Exporter(
        connection: connection, identity: identity, roster: roster, targets: targets, includesAll: includesAll,
        createdAt: createdAt)
      let makeDurable: (OriginTable.Head) throws -> Void = { head in
        try Self.synchronizeLog(of: database)
        try anchor.noteExport(of: head)
      }
      switch destination {
      case .standardOutput:
        return try exporter.export(
          to: FileDescriptor(1, path: "standard output", closes: false), makeDurable: makeDurable, progress: progress)
      case .file(let path):
        let file = try PendingFile(replacing: path)
        let report = try exporter.export(to: file, makeDurable: makeDurable, progress: progress)
        try file.commit()
        return report
      }
    }
    logger.debug("exported", metadata: ["transactions": "\(report.transactions)", "bytes": "\(report.bytes)"])
    return report
  }

  /// Commits are not synchronized one by one, so a power cut may take back the last. What others have seen must not
  /// be among them, or its sequence numbers would be used twice.
  private static func synchronizeLog(of database: String) throws {
    let log = "\(database)-wal"
    guard PrivateFile.exists(log) else { return }
    try PrivateFile.open(log, writing: true).synchronize()
  }

  /// Applies a sync file in one transaction: all of it, or nothing.
  ///
  /// - Throws: `notARecipient`, `unknownSender`, `otherGroup`, `invalidSignature`, `corruptFile`, `truncatedFile`,
  ///   `unsupportedVersion`, `limitExceeded`, `needsMigration`, `importConstraint`, `diskFull`, `busy`. The replica
  ///   is unchanged after every one of them.
  public func `import`(from source: SyncSource, progress: ProgressHandler? = nil) async throws -> MergeReport {
    let (identity, roster) = try await withKeyring { contents, roster in (contents.identity, roster) }
    let (report, members) = try await withWriter { writer in
      try Self.explaining { try Self.read(source, identity, roster, on: writer, nil, progress) }
    }
    try await remember(members)
    for fork in report.forks {
      logger.warning("two histories", metadata: ["replica": "\(fork.replica)", "sequence": "\(fork.sequence)"])
    }
    logger.debug("imported", metadata: ["applied": "\(report.applied)", "conflicts": "\(report.conflicts)"])
    return report
  }

  /// What an import of the file would do. The whole file is read, checked and applied, and everything is taken back:
  /// neither rows nor members nor acknowledgements change. It takes the time of the import, and keeps other writers
  /// waiting as that does.
  ///
  /// - Throws: What the import would throw.
  public func plan(importing source: SyncSource, progress: ProgressHandler? = nil) async throws -> ImportPlan {
    let (identity, roster) = try await withKeyring { contents, roster in (contents.identity, roster) }
    return try await withWriter { writer in
      let planner = ImportPlanner()
      do {
        _ = try Self.explaining { try Self.read(source, identity, roster, on: writer, planner, progress) }
      } catch is TakenBack {
        if let plan = planner.plan { return plan }
      }
      throw GodwitError(.damagedLog, "the import could not be planned", hint: "run: godwit verify")
    }
  }

  private static func read(
    _ source: SyncSource, _ identity: Identity, _ roster: Roster, on writer: ReplicaWriter,
    _ planner: ImportPlanner?, _ progress: ProgressHandler?
  ) throws -> (MergeReport, [MemberRecord]) {
    let group = roster.group
    let file = try SyncFileReader(source.open(), identity: identity.ageIdentity) { header in
      guard header.group == group else {
        throw GodwitError(
          .otherGroup, "the file belongs to group \(header.group), this replica to \(group)",
          hint: "import it into a replica of that group")
      }
      var known = roster
      known.merge(header.members)
      return try known.identity(of: header.sender)
    }
    return (try Importer.run(file, on: writer, planner: planner, progress: progress), file.header.members)
  }

  /// What is wrong with a file's bytes is found deep inside; what to do about it is the same for all of it.
  private static func explaining<Output>(_ body: () throws -> Output) throws -> Output {
    do {
      return try body()
    } catch let error as GodwitError where error.hint == nil {
      let unsound: Set<GodwitError.Code> = [
        .corruptFile, .truncatedFile, .limitExceeded, .invalidSchema, .invalidKey, .unsupportedVersion,
      ]
      guard unsound.contains(error.code) else { throw error }
      throw GodwitError(
        error.code, error.message, hint: "nothing was changed; ask the sender for the file again",
        underlying: error.underlying)
    }
  }

  /// Keeps what a verified file said of the group's members.
  private func remember(_ members: [MemberRecord]) async throws {
    let location = folder.keys
    let group = group
    try await BlockingThread.run {
      let contents = try Keyring.open(at: location)
      var roster = Roster(group: group, trusted: contents.members)
      guard roster.merge(members) else { return }
      try Keyring.update(at: location) { contents in
        var roster = Roster(group: group, trusted: contents.members)
        roster.merge(members)
        contents.members = roster.sorted
      }
    }
  }
}
