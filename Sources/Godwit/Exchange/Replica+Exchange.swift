import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitEngine
import GodwitStorage
import GodwitSyncFile

extension Replica {
  /// Writes what other members may lack as a sync file that only they and this replica can open.
  ///
  /// - Parameters:
  ///   - destination: A file, which appears whole or not at all, several of a size, or the standard output.
  ///   - member: The one member the file is for; by default all of them.
  ///   - includesAll: Whether to include what the others are known to hold.
  ///   - progress: Called with how much is done.
  /// - Throws: `invalidArgument` for an unknown member, for a place in the replica's own folder, and for a size that is
  ///   too small for what each file begins with; `unsafeFile` for a file that is not replaced, such as another
  ///   replica's; `limitExceeded` for more than 9,999 files; `diskFull`, `fileAccess`. Of several files those that are
  ///   complete stay.
  public func export(
    to destination: SyncDestination, for member: String? = nil, includesAll: Bool = false,
    progress: ProgressHandler? = nil
  ) async throws -> ExportReport {
    try await export(to: destination, for: member, includesAll ? .all : .lacking, progress)
  }

  /// Writes the whole state as a sync file: for a new member, or one that lacks what the others have forgotten.
  ///
  /// ``export(to:for:includesAll:progress:)`` does so by itself where it knows that a member needs it.
  ///
  /// - Parameters:
  ///   - destination: A file, which appears whole or not at all, several of a size, or the standard output.
  ///   - member: The one member the file is for; by default all of them.
  ///   - progress: Called with how much is done.
  /// - Throws: `invalidArgument` for an unknown member, for a place in the replica's own folder, and for a size that is
  ///   too small for what each file begins with; `unsafeFile` for a file that is not replaced, such as another
  ///   replica's; `limitExceeded` for more than 9,999 files; `diskFull`, `fileAccess`. Of several files those that are
  ///   complete stay.
  public func exportState(
    to destination: SyncDestination, for member: String? = nil, progress: ProgressHandler? = nil
  ) async throws -> ExportReport {
    try await export(to: destination, for: member, .state, progress)
  }

  private func export(
    to destination: SyncDestination, for member: String?, _ content: Exporter.Content, _ progress: ProgressHandler?
  ) async throws -> ExportReport {
    let folder = folder
    let report = try await withExporter(for: member, content) { exporter, makeDurable in
      try destination.write(exporter, outside: folder, makeDurable, progress)
    }
    logger.debug("exported", metadata: ["transactions": "\(report.transactions)", "bytes": "\(report.bytes)"])
    return report
  }

  /// That the members became others while an export began.
  private struct MembersChanged: Error {}

  /// Makes durable what a file is about to say, and returns when it is said.
  typealias MakeDurable = (OriginTable.Head, AnchoredState) throws -> Int64

  /// Lends an exporter on one state of the database and of the members.
  func withExporter<Output: Sendable>(
    for member: String?, at speaker: Origin? = nil, _ content: Exporter.Content,
    _ body: @escaping @Sendable (Exporter, MakeDurable) throws -> Output
  ) async throws -> Output {
    for _ in 0..<10 {
      do {
        return try await withExporterOnce(for: member, at: speaker, content, body)
      } catch is MembersChanged {}
    }
    throw GodwitError(.busy, "the group's members change time and again", hint: "try again")
  }

  private func withExporterOnce<Output: Sendable>(
    for member: String?, at speaker: Origin?, _ content: Exporter.Content,
    _ body: @escaping @Sendable (Exporter, MakeDurable) throws -> Output
  ) async throws -> Output {
    let (database, anchor, keys) = (folder.database, folder.anchor, folder.keys)
    let (trusted, memory) = (trusted, exporterMemory)
    let createdAt = wallClock.milliseconds()
    try requireOpen()
    let known = try await BlockingThread.run { try Keyring.open(at: keys).roster }
    return try await pool.read { connection in
      // The file says what this replica holds. A member it does not name must have been invited after that, so the
      // database is looked at first; of a removal that it names this replica held all it would ever take, so the
      // members are the same before and after that (Specs/forgetting.md, "Frontier").
      _ = try Meta.all(on: connection)
      let contents = try Keyring.open(at: keys)
      guard try contents.roster == known else { throw MembersChanged() }
      let roster = try trusted.roster(contents)
      let targets = try member.map { [try roster.activeMember($0)] } ?? roster.active
      guard !targets.isEmpty else {
        throw GodwitError(.invalidArgument, "the group has no active member", hint: "see: godwit member list")
      }
      let exporter = try Exporter(
        connection: connection, identity: contents.identity, roster: roster, targets: targets, at: speaker,
        content: content, createdAt: createdAt, memory: memory)
      return try body(exporter) { head, state in
        try Self.synchronizeLog(of: database)
        return try anchor.noteExport(of: head, state, at: createdAt)
      }
    }
  }

  /// Commits are not synchronized one by one, so a power cut may take back the last. What others have seen must not
  /// be among them, or its sequence numbers would be used twice.
  static func synchronizeLog(of database: String) throws {
    let log = "\(database)-wal"
    guard PrivateFile.exists(log) else { return }
    try PrivateFile.open(log, writing: true).synchronize()
  }

  /// Applies a sync file in one transaction: all of it, or nothing. What had waited for it is applied afterwards, in
  /// transactions of its own: what of that nobody can apply is dropped and named, and keeps no file out.
  ///
  /// - Throws: `notARecipient`, `unknownSender`, `unknownBase`, `otherGroup`, `invalidSignature`, `corruptFile`,
  ///   `truncatedFile`,
  ///   `unsupportedVersion`, `limitExceeded`, `needsMigration`, `importConstraint`, `diskFull`, `busy`; `fenced` when
  ///   this replica, or the author of a transaction, lacks what has been forgotten. The replica is unchanged after each
  ///   of them; of a sender that was removed, which is `unknownSender`, it keeps the removal, if the file shows one
  ///   that it did not know.
  public func `import`(from source: SyncSource, progress: ProgressHandler? = nil) async throws -> MergeReport {
    try await take(source, isRejoining: false, progress).report
  }

  /// The way back for a replica that lacks what the others have forgotten: replaces its state by a state file's, and
  /// merges its own unsent changes into that, in one new transaction. The rules decide as if a file had brought them,
  /// and what loses on either side is kept as a conflict; so are changes of rows that are gone, and what the changes
  /// take the place of where nobody remembers any more who wrote it. A replica that lacks nothing, and holds nothing
  /// by who does, imports as ever.
  ///
  /// What it holds of third replicas and the state file does not is dropped; it comes again from them.
  ///
  /// - Throws: As ``import(from:progress:)``.
  public func rejoin(from source: SyncSource, progress: ProgressHandler? = nil) async throws -> MergeReport {
    try await take(source, isRejoining: true, progress).report
  }

  /// A file that was imported.
  struct TakenFile: Sendable {
    let report: MergeReport
    /// The incarnation that made it.
    let origin: Origin
    /// The transactions that it has.
    let ranges: OriginRanges
    /// A hash of the recipients that it is sealed to, or of those whose epoch it is sealed to.
    let sealed: [UInt8]
    /// Whether its sender has forgotten what is not here, or what some work here, which it lacks, was written without:
    /// a state of the sender's is the way on.
    let needsState: Bool
    /// What its header builds on; nil for one that is whole.
    let base: ContentHash?
    /// The header's bytes as they stand in the file, where others may build on it.
    let header: [UInt8]?
  }

  /// What opens files for this replica.
  private struct OpeningKeys {
    let identities: [AgeIdentity]
    private let epochs: [Epoch]

    init(_ contents: KeyringContents) throws {
      identities = try contents.ageIdentities
      epochs = try contents.epochs
    }

    /// A hash of whom a file is for.
    func sealed(_ recipients: [AgeRecipient]) -> [UInt8] {
      let epoch = epochs.first { [$0.key.recipient] == recipients }
      return (epoch?.set ?? recipients.hash).bytes
    }
  }

  /// Imports a file.
  func take(_ source: SyncSource, isRejoining: Bool, _ progress: ProgressHandler?) async throws -> TakenFile {
    let (keys, roster) = try await withKeyring { contents, roster in (try OpeningKeys(contents), roster) }
    let (members, knownBases) = (trusted, exporterMemory.bases)
    let taken = try await withWriter { writer in
      // Whatever of the file counts: what had waited may have been applied when something fails.
      defer { writer.anchor.noteState() }
      do {
        return try Self.explaining {
          try Self.read(source, keys, roster, members, knownBases, on: writer, isRejoining, nil, progress)
        }
      } catch let error as GodwitError where error.code == .unknownSender {
        // Where that fails, the next import does it.
        try? members.dropWaiting(on: writer)
        throw error
      }
    }
    let report = taken.report
    for fork in report.attention.forks {
      logger.warning("two histories", metadata: ["replica": "\(fork.replica)", "sequence": "\(fork.sequence)"])
    }
    // What is forgotten now may be in no state that its sender has made.
    if !taken.needsState { await forget(afterApplying: report.applied.transactions) }
    logger.debug(
      "imported",
      metadata: ["applied": "\(report.applied.transactions)", "conflicts": "\(report.attention.conflicts)"])
    return taken
  }

  /// What an import of the file would do. The whole file is read, checked and applied, and everything is taken back:
  /// neither rows nor members nor acknowledgements change. It takes the time of the import, and keeps other writers
  /// waiting as that does.
  ///
  /// - Parameters:
  ///   - source: The file.
  ///   - isRejoining: Whether to plan ``rejoin(from:progress:)`` instead, by which a state file may replace the state.
  ///   - progress: Called with how much is done.
  /// - Throws: What the import would throw.
  public func plan(
    importing source: SyncSource, isRejoining: Bool = false, progress: ProgressHandler? = nil
  ) async throws -> ImportPlan {
    let (keys, roster) = try await withKeyring { contents, roster in (try OpeningKeys(contents), roster) }
    let (members, knownBases) = (trusted, exporterMemory.bases)
    return try await withWriter { writer in
      let planner = ImportPlanner()
      do {
        _ = try Self.explaining {
          try Self.read(source, keys, roster, members, knownBases, on: writer, isRejoining, planner, progress)
        }
      } catch is TakenBack {
        if let plan = planner.plan { return plan }
      }
      throw GodwitError(.damagedLog, "the import could not be planned", hint: "run: godwit verify")
    }
  }

  private static func read(
    _ source: SyncSource, _ keys: OpeningKeys, _ roster: Roster, _ members: TrustedMembers, _ knownBases: KnownBases,
    on writer: ReplicaWriter, _ isRejoining: Bool, _ planner: ImportPlanner?, _ progress: ProgressHandler?
  ) throws -> TakenFile {
    let group = roster.group
    return try source.read { bytes in
      let bases = HeaderBases(writer.connection)
      let file = try SyncFileReader(bytes, identities: keys.identities) {
        try knownBases.find($0, in: group, among: bases)?.header
      } sender: { preamble in
        guard preamble.group == group else {
          throw GodwitError(
            .otherGroup, "the file belongs to group \(preamble.group), this replica to \(group)",
            hint: "import it into a replica of that group")
        }
        return try members.sender(of: preamble, among: roster, isPlanned: planner != nil).history
      }
      let report = try Importer.run(
        file, from: members, on: writer, isRejoining: isRejoining, planner: planner, progress: progress)
      return TakenFile(
        report: report, origin: file.header.origin, ranges: OriginRanges(file.header.ranges),
        sealed: keys.sealed(file.header.recipients),
        needsState: try Importer.needsState(after: file.header, writer.log), base: file.base,
        header: file.header.ranges.isEmpty && file.header.stateFile == nil ? file.headerBytes : nil)
    }
  }

  /// What is wrong with a file's bytes is found deep inside; what to do about it is the same for all of it.
  static func explaining<Output>(_ body: () throws -> Output) throws -> Output {
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
}
