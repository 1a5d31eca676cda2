import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica {
  /// Puts a backup in the place of a replica's database, or makes the replica anew from it in an empty folder.
  ///
  /// The restored replica writes under a new incarnation, so nothing it writes is taken for what was written after the
  /// backup; what other members hold of that comes back with their files. A keyring that is there stays, with the
  /// members and slots it knows; otherwise the backup's takes its place, and what opened it then opens it now.
  ///
  /// The present database stays until the restored one has been checked whole: a failure, a cancellation or a kill
  /// leaves the former or the latter. What this replica wrote since the backup and nobody else is known to hold, which
  /// rows of tables that are not synced are too, would be lost with the present database, which then stays unless that
  /// is wanted.
  ///
  /// - Parameters:
  ///   - file: A file that ``Maintenance/backup(to:progress:)`` wrote.
  ///   - path: The replica's folder.
  ///   - key: Where the keyring is or will be, and what is offered to open the backup's.
  ///   - discardingUnsent: Whether to discard what nobody else is known to hold.
  ///   - progress: Called with how much is done.
  /// - Throws: `corruptFile` for a file that is no backup, or one that is damaged; `damagedDatabase`,
  ///   `plaintextDatabase` or `damagedKeyring` when what is in it is no encrypted database or keyring; `noKeyFits` when
  ///   nothing that is offered opens it; `replicaExists` when the folder holds another replica; `otherGroup`;
  ///   `rolledBackKeyring` when the present database knows a later keyring; `unsentTransactions` when it has some;
  ///   `busy` while any program has it open; `diskFull`, `fileAccess`, `unsafeFile`.
  @discardableResult
  public static func restore(
    _ file: String, to path: String, key: Replica.KeySource = .keyring(), discardingUnsent: Bool = false,
    progress: ProgressHandler? = nil
  ) async throws -> Replica.RestoreReport {
    let folder = ReplicaFolder(path, key: key)
    let cancellation = CancellationFlag()
    return try await withTaskCancellationHandler {
      try await BlockingThread.run {
        let backup = try BackupFile(file)
        // Ahead of the locks: a person may be asked.
        let kept = try Keyring.open(bytes: backup.keyring, offering: folder.keys)
        try folder.explainingDamage { try Keyring.prepare(at: folder.keys) }
        let lock = try folder.lock()
        return try withExtendedLifetime(lock) {
          try BackupRestorer(folder, backup, discardingUnsent, cancellation, progress).run(kept)
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}

extension Replica {
  /// What a restored backup holds.
  public struct RestoreReport: Sendable {
    /// Whose backup it was.
    public let replica: ReplicaID
    /// The replica's group.
    public let group: GroupID
    /// What the check of the restored database found out.
    public let verification: VerificationReport
    /// Whether the backup's keyring took its place, for there was none.
    public let hasRestoredKeyring: Bool
  }
}

/// Restores one backup (Specs/backup.md, "Restoring").
private struct BackupRestorer {
  private let folder: ReplicaFolder
  private let backup: BackupFile
  private let swap: DatabaseSwap
  private let discardsUnsent: Bool
  private let cancellation: CancellationFlag
  private let progress: ProgressHandler?

  init(
    _ folder: ReplicaFolder, _ backup: BackupFile, _ discardsUnsent: Bool, _ cancellation: CancellationFlag,
    _ progress: ProgressHandler?
  ) {
    self.folder = folder
    self.backup = backup
    self.discardsUnsent = discardsUnsent
    self.cancellation = cancellation
    self.progress = progress
    swap = DatabaseSwap(folder)
  }

  func run(_ kept: KeyringContents) throws -> Replica.RestoreReport {
    let lock = try swap.lock()
    return try withExtendedLifetime(lock) {
      let local = try folder.explainingDamage {
        try swap.settle()
        return folder.hasKeyring ? try Keyring.open(at: folder.keys) : nil
      }
      try checkOwner(kept, local)
      try swap.requireUnused()
      if let local { try requireLatest(local) }
      // Without a keyring there the backup's may open what lies there, and nothing else may be lost either.
      if local == nil, !discardsUnsent { try requireSameReplica(kept) }
      do {
        return try restore(kept, local)
      } catch {
        swap.abandon()
        // A keyring without its database would stand in the way of a new replica.
        if local == nil, !folder.hasDatabase { unlink(folder.keys.keyring) }
        throw error
      }
    }
  }

  private func restore(_ kept: KeyringContents, _ local: KeyringContents?) throws -> Replica.RestoreReport {
    // A key that was replaced since the backup does not come back with it.
    let key = local?.databaseKey ?? kept.databaseKey
    // What was restored from this backup before begins as it does, and an exchange distinguishes files by that.
    let isAnew = try key != kept.databaseKey || folder.hasDatabase && DatabaseFile.salt(folder.database) == backup.salt
    try DatabaseFile.create(swap.newFile)
    if isAnew { try DatabaseFile.create(swap.otherFile) }
    let extracted = isAnew ? swap.otherFile : swap.newFile
    try extract(to: extracted)
    let (verification, content) = try check(extracted, kept)
    let mark = try content.map { content in try swap.reading { try requireNothingLost(local ?? kept, content) } }
    if isAnew { try copy(extracted, key: kept.databaseKey, to: swap.newFile, newKey: key) }
    try forgetNonce(key)
    if local == nil { try Keyring.place(backup.keyring, at: folder.keys) }
    try Keyring.update(at: folder.keys) { $0.setPendingDatabase(PendingDatabase(key: key)) }
    try swap.commit(isOpenElsewhere: false, unchangedSince: mark)
    progress?(1)
    guard let group = kept.group else { throw GodwitError(.damagedKeyring, "the backup's keyring names no group") }
    return Replica.RestoreReport(
      replica: kept.identity.replica, group: group, verification: verification, hasRestoredKeyring: local == nil)
  }

  private func checkOwner(_ kept: KeyringContents, _ local: KeyringContents?) throws {
    guard let local else { return }
    guard local.identity.replica == kept.identity.replica else {
      throw GodwitError(
        .replicaExists,
        "\(folder.path) holds replica \(local.identity.replica), and the backup is of \(kept.identity.replica)",
        hint: "restore it to another folder")
    }
    guard local.group == kept.group else {
      throw GodwitError(
        .otherGroup, "the backup is of another group than the replica in \(folder.path)",
        hint: "restore it to another folder")
    }
  }

  /// Throws `rolledBackKeyring` where the present database can be read and knows a later keyring than the one that is
  /// there: the database in the backup may know none.
  private func requireLatest(_ local: KeyringContents) throws {
    guard folder.hasDatabase, let known = try readingPresent(local, { try KeyringRollback.known(on: $0) }) else {
      return
    }
    try KeyringRollback.check(local, folder.keys, after: known)
  }

  /// Lends the present database. Nil for one that cannot be read: what is damaged stands in nobody's way.
  private func readingPresent<Output>(
    _ local: KeyringContents, _ body: (Connection) throws -> Output
  ) throws -> Output? {
    guard let group = local.group else { return nil }
    do {
      let connection = try Connection(
        path: folder.database, key: local.databaseKey, mode: .reader, cancellation: cancellation)
      try SystemTables.check(on: connection, group: group)
      return try body(connection)
    } catch let error as GodwitError where Self.damage.contains(error.code) {
      return nil
    }
  }

  /// Throws `missingKeyring` for a database that the backup's keyring does not open: another replica's, whose keyring
  /// lies elsewhere.
  private func requireSameReplica(_ kept: KeyringContents) throws {
    guard folder.hasDatabase else { return }
    do {
      let connection = try Connection(
        path: folder.database, key: kept.databaseKey, mode: .reader, cancellation: cancellation)
      if let group = kept.group { try SystemTables.check(on: connection, group: group) }
      guard try OriginTable(connection).own.replica == kept.identity.replica else {
        throw GodwitError(.wrongKey, "the database is another replica's")
      }
    } catch let error as GodwitError where Self.damage.union([.otherGroup]).contains(error.code) {
      throw GodwitError(
        .missingKeyring,
        "\(folder.database) is there, its keyring \(folder.keys.keyring) is not, and the backup's does not open it",
        hint: "say where it is: --keyring; or restore to another folder; or lose what is there: --discard-unsent",
        underlying: error)
    }
  }

  private func extract(to path: String) throws {
    let target = try PrivateFile.open(path, writing: true)
    try backup.extract(to: target) { fraction in
      try checkCancellation()
      progress?(fraction / 2)
    }
  }

  /// What the backup has, for what is in its place to be compared with.
  private struct Content {
    let held: VersionVector
    let local: LocalRows
  }

  /// Opens and proves what was extracted: every page, every chain, and that it is the database of this keyring. Also
  /// gives what it has where that is to be compared.
  private func check(_ path: String, _ kept: KeyringContents) throws -> (VerificationReport, Content?) {
    let connection = try Connection(
      path: path, key: kept.databaseKey, mode: .reader, cancellation: cancellation, isTemporary: true)
    try SetCheck.register(on: connection)
    guard let group = kept.group else { throw GodwitError(.damagedKeyring, "the backup's keyring names no group") }
    try SystemTables.check(on: connection, group: group)
    guard try OriginTable(connection).own.replica == kept.identity.replica else {
      throw GodwitError(.corruptFile, "the backup's database and keyring are of different replicas")
    }
    let report = try Replica.check(connection)
    guard report.isSound else {
      throw GodwitError(
        .damagedDatabase, "the database in the backup is damaged: \(report.problems.first ?? "")",
        hint: "take an earlier backup")
    }
    guard !discardsUnsent, folder.hasDatabase else { return (report, nil) }
    return (
      report, Content(held: try ChangeLog(connection).origins.vector, local: try LocalRows(connection))
    )
  }

  /// Throws `unsentTransactions` when the present database can be read and has what neither the backup has nor anybody
  /// else.
  private func requireNothingLost(_ local: KeyringContents, _ content: Content) throws {
    guard let group = local.group else { return }
    let found = try readingPresent(local) { connection in
      (
        try UnsentTransactions(connection, local, group: group).count(lackingIn: content.held),
        try LocalRows(connection).tables(differingFrom: content.local)
      )
    }
    guard let (count, tables) = found else { return }
    guard count == 0 else {
      throw GodwitError(
        .unsentTransactions,
        "the replica in \(folder.path) holds \(count) of its own transactions that the backup lacks and nobody else is "
          + "known to hold",
        hint: "keep them with godwit backup OTHER-FILE, or hand them on with godwit export FILE; "
          + "to restore nevertheless: --discard-unsent")
    }
    guard tables.isEmpty else {
      throw GodwitError(
        .unsentTransactions,
        "the replica in \(folder.path) has rows that the backup lacks in tables that are not synced: "
          + tables.prefix(10).joined(separator: ", "),
        hint: "nobody else holds them; keep them with godwit backup OTHER-FILE; "
          + "to restore nevertheless: --discard-unsent")
    }
  }

  private static let damage: Set<GodwitError.Code> = [
    .damagedDatabase, .notADatabase, .plaintextDatabase, .wrongKey, .damagedLog,
  ]

  private func copy(_ path: String, key: SecretBytes, to newPath: String, newKey: SecretBytes) throws {
    let source = try Connection(path: path, key: key, mode: .reader, cancellation: cancellation, isTemporary: true)
    try source.execute("BEGIN")
    try DatabaseCopy.run(from: source, to: newPath, key: newKey, hasLog: true) { progress?(0.5 + $0 / 4) }
    try DatabaseCopy.verify(newPath, key: newKey, against: source, SetCheck.register)
  }

  /// With a nonce that no anchor has, the next opening takes it for what it is (Specs/incarnations.md).
  private func forgetNonce(_ key: SecretBytes) throws {
    let connection = try Connection(
      path: swap.newFile, key: key, mode: .writer, cancellation: cancellation, isTemporary: true)
    try Meta.set(.nonce, .blob(Nonce.random().bytes), on: connection)
  }

  private func checkCancellation() throws {
    if cancellation.isCancelled { throw CancellationError() }
  }
}

extension ReplicaFolder {
  /// Says of a keyring that is damaged, and lies where the backup's would be put, which one it is.
  fileprivate func explainingDamage<Output>(_ body: () throws -> Output) throws -> Output {
    do {
      return try body()
    } catch let error as GodwitError where error.code == .damagedKeyring {
      throw GodwitError(
        .damagedKeyring, "the keyring \(keys.keyring) is damaged: \(error.message)",
        hint: "move it away and restore again: the backup has one", underlying: error)
    }
  }
}
