import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitEngine
import GodwitStorage
import Logging

extension Replica {
  /// Makes a replica, the first of a new group, with the tables and rows of another program's database, which is only
  /// read and never changed. All of it, or nothing: after a failure there is no replica, and one that was made by
  /// somebody else meanwhile stays. A call continues with what one that was killed left.
  ///
  /// The tables are local at first; ``Tables/startSync(of:asOf:)`` lets their rows travel. Open the replica afterwards
  /// with models of the same shape, which say `sync: .local` until then.
  ///
  /// Rows come along, with keys, defaults, references and indexes of plain columns. SQL of the database's own never
  /// runs: views, triggers, checks, computed defaults, other indexes and virtual tables are left out. The report names
  /// them, with their statements, which a program that trusts the database may run in a `write`.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - source: The database.
  ///   - name: What the replica is called among the members; by default the folder's name.
  ///   - key: Where the keys are to be.
  ///   - postQuantum: Whether the replica has hybrid keys (ML-KEM-768 with X25519), and so all members of its group.
  ///   - reader: Where the database is read: by default in a process of its own, which the program must be prepared for
  ///     (``DatabaseSource/Reader/serveIfAsked()``).
  ///   - progress: Called with how much is done.
  /// - Throws: `replicaExists`; `notADatabase`; `plaintextDatabase` for one that is not encrypted though a secret was
  ///   given; `wrongKey`; `damagedDatabase`; `busy` when changes lie in a log beside it, or it was changed while it was
  ///   read; `invalidSchema` for names that are Godwit's; `constraint` for rows that refer to none; `invalidArgument`
  ///   for an identity of the other kind where a post-quantum one is asked for, and where the program does not call
  ///   ``DatabaseSource/Reader/serveIfAsked()``; `limitExceeded` where reading takes more memory, time or steps than
  ///   the database's size justifies; `diskFull`, `fileAccess`.
  public static func make(
    at path: String, from source: DatabaseSource, name: String? = nil, key: Replica.KeySource = .keyring(),
    postQuantum: Bool = false, reader: DatabaseSource.Reader = .child, progress: ProgressHandler? = nil
  ) async throws -> Replica.ConversionReport {
    let folder = ReplicaFolder(path, key: key)
    let key = KeySource(of: folder)
    let program = try reader.program()
    let source = source.resolved()
    // Nobody is asked for a secret in vain.
    if folder.hasDatabase { try await withUntouched(folder, name: nil, key: key) { _ in } }
    // What cannot be read at all is found out before anything is made.
    let secret = try await BlockingThread.run {
      let secret = try source.secret?.read()
      if secret == nil {
        let opening = SourceOpening(source: source, state: try SourceState(source.path), program: program)
        try explaining(source) { try opening.withRows { _ in } }
      }
      return secret
    }
    return try await withUntouched(folder, name: name, key: key, postQuantum: postQuantum) { replica in
      if let name { try await replica.takeName(name) }
      return try await replica.takeTables(of: source, secret, program, progress)
    }
  }

  /// Lends the folder's replica, which is made now or was left by a call that was killed, while nobody else opens it.
  /// What was made here goes when the body fails.
  ///
  /// Throws `replicaExists` for one that holds anything.
  private static func withUntouched<Output>(
    _ folder: ReplicaFolder, name: String?, key: Replica.KeySource, postQuantum: Bool = false,
    _ body: (Replica) async throws -> Output
  ) async throws -> Output {
    let lock = try await BlockingThread.run {
      try Keyring.prepare(at: folder.keys)
      return try folder.lock()
    }
    defer { withExtendedLifetime(lock) {} }
    // A keyring whose database is away for now stays as it is, also when this fails.
    if folder.hasKeyring, !folder.hasDatabase, try Keyring.open(at: folder.keys).databaseSalt != nil {
      throw folder.lostDatabase()
    }
    let made = MadeFiles(folder)
    do {
      let replica = try await openLocked(folder, name: name, key: key, postQuantum: postQuantum, lock)
      do {
        guard try await replica.isUntouched() else { throw folder.isTaken() }
        let output = try await body(replica)
        await replica.close()
        return output
      } catch {
        await replica.close()
        throw error
      }
    } catch {
      made.remove()
      throw error
    }
  }

  private static func openLocked(
    _ folder: ReplicaFolder, name: String?, key: Replica.KeySource, postQuantum: Bool, _ lock: LockFile
  ) async throws -> Replica {
    let hadDatabase = folder.hasDatabase
    do {
      return try await open(
        at: folder.path, models: [],
        configuration: .init(name: name, key: key, isPostQuantum: postQuantum, logger: Logger(label: "godwit")),
        wallClock: .system, lock: lock)
    } catch let error as GodwitError where hadDatabase && ![.invalidArgument, .diskFull, .busy].contains(error.code) {
      // Whatever else keeps it from being opened, it is somebody's.
      throw folder.isTaken(underlying: error)
    }
  }

  /// Whether there is nothing but what opening a new replica makes.
  private func isUntouched() async throws -> Bool {
    guard try await withKeyring({ contents, _ in contents.members.count == 1 }) else { return false }
    return try await pool.read { try SystemTables.areUntouched(on: $0) }
  }

  /// A call that was killed may have been given another name.
  private func takeName(_ name: String) async throws {
    guard let own = try await members.list().first(where: \.isOwn)?.name, own != name else { return }
    try await members.rename(own, to: name)
  }

  private func takeTables(
    of source: DatabaseSource, _ secret: SecretBytes?, _ program: DatabaseSource.Reader.Program?,
    _ progress: ProgressHandler?
  ) async throws -> Replica.ConversionReport {
    let swap = DatabaseSwap(folder)
    return try await withWriter { writer in
      let lock = try swap.lock()
      defer {
        DatabaseFile.removeNames(of: swap.otherFile)
        withExtendedLifetime(lock) {}
      }
      return try SourceState(source.path).whileItLasts { state in
        var opening = SourceOpening(source: source, state: state, program: program)
        opening.check = writer.connection.checkCancellation
        if let secret {
          try opening.seal(secret, to: swap.otherFile) { fraction in
            try writer.connection.checkCancellation()
            progress?(fraction / 2)
          }
        }
        return try Self.explaining(source) {
          try opening.withRows { rows in
            try writer.inMerge {
              let report = try SourceImport(writer: writer, source: rows) { progress?(0.5 + $0 / 2) }.run()
              try state.requireUnchanged()
              return report
            }
          }
        }
      }
    }
  }

  /// What reading a database without a key fails with is no matter of keys, nor of a replica's being damaged.
  private static func explaining<Output>(_ source: DatabaseSource, _ body: () throws -> Output) throws -> Output {
    do {
      return try body()
    } catch let error as GodwitError where source.secret == nil && error.code == .wrongKey {
      throw GodwitError(
        .notADatabase, "\(source.path) begins like a SQLite database and is none", hint: "take another copy of it",
        underlying: error)
    } catch let error as GodwitError where error.code == .damagedDatabase && !(error.underlying is ReaderEnd) {
      throw GodwitError(
        .damagedDatabase, error.message,
        hint: "take an earlier copy; or its schema has what this SQLite does not know, such as generated columns",
        underlying: error)
    }
  }
}

/// What was not there before a replica was made, and goes when that fails. Wants the folder's lock from the beginning
/// to the end. Lock files stay: others may wait for them.
private struct MadeFiles {
  private let folder: ReplicaFolder
  private let hadDatabase: Bool
  private let hadKeyring: Bool
  private let hadAnchor: Bool

  init(_ folder: ReplicaFolder) {
    self.folder = folder
    hadDatabase = folder.hasDatabase
    hadKeyring = folder.hasKeyring
    hadAnchor = PrivateFile.exists(folder.anchor.path)
  }

  /// In an order in which a kill leaves a replica that can be opened, or none.
  func remove() {
    guard !hadDatabase else { return }
    let isForgotten = (try? forgetDatabase()) != nil
    if !hadAnchor { unlink(folder.anchor.path) }
    DatabaseFile.removeNames(of: folder.database)
    guard hadKeyring else {
      unlink(folder.keys.keyring)
      return
    }
    // There may have been no room before.
    if !isForgotten { try? forgetDatabase() }
  }

  /// The identity of before stays, without the group it founded and the salt of a database that goes.
  private func forgetDatabase() throws {
    guard folder.hasKeyring else { return }
    try Keyring.update(at: folder.keys) { contents in
      contents.databaseSalt = nil
      guard contents.members.count == 1 else { return }
      contents.group = nil
      contents.members = []
    }
  }
}

extension ReplicaFolder {
  fileprivate func isTaken(underlying: (any Error)? = nil) -> GodwitError {
    GodwitError(
      .replicaExists, "there is a replica in \(path) already", hint: "make one of the database in another folder",
      underlying: underlying)
  }
}
