import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitStorage
import Logging

extension Replica {
  /// Makes a replica, the first of a new group, with the tables and rows of another program's database, which is only
  /// read and never changed. All of it, or nothing: after a failure there is no replica.
  ///
  /// The tables are local at first; ``startSync(of:asOf:)`` lets their rows travel. Open the replica afterwards with
  /// models of the same shape, which say `sync: .local` until then. Views, triggers and indexes come along. Virtual
  /// tables do not.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - source: The database.
  ///   - name: What the replica is called among the members; by default the folder's name.
  ///   - key: Where the keys are to be.
  ///   - progress: Hears how much is done.
  /// - Throws: `replicaExists`; `notADatabase`; `plaintextDatabase` for one that is not encrypted though a secret was
  ///   given; `wrongKey`; `damagedDatabase`; `busy` when changes lie in a log beside it; `invalidSchema` for names that
  ///   are Godwit's; `constraint` for rows that refer to none; `diskFull`, `fileAccess`.
  public static func make(
    at path: String, from source: DatabaseSource, name: String? = nil, key: KeySource = .keyring(),
    progress: ProgressHandler? = nil
  ) async throws -> ConversionReport {
    let folder = ReplicaFolder(path, key: key)
    guard !folder.hasDatabase else {
      throw GodwitError(
        .replicaExists, "there is a replica in \(path) already", hint: "make one of the database in another folder")
    }
    let traces = MadeFiles(folder)
    do {
      // What cannot be read at all is found out before anything is made.
      let secret = try await BlockingThread.run {
        let secret = try source.secret?.read()
        if secret == nil { _ = try Connection(plaintext: source.path, mode: .reader) }
        return secret
      }
      let replica = try await open(at: path, models: [], name: name, key: key)
      do {
        let report = try await replica.takeTables(of: source, secret, progress)
        await replica.close()
        return report
      } catch {
        await replica.close()
        throw error
      }
    } catch {
      traces.remove()
      throw error
    }
  }

  private func takeTables(
    of source: DatabaseSource, _ secret: SecretBytes?, _ progress: ProgressHandler?
  ) async throws -> ConversionReport {
    let swap = DatabaseSwap(folder)
    return try await withWriter { writer in
      let lock = try swap.lock()
      defer {
        DatabaseFile.removeNames(of: swap.otherFile)
        withExtendedLifetime(lock) {}
      }
      let connection = try Self.open(source, secret, temporary: swap.otherFile) { fraction in
        try writer.connection.checkCancellation()
        progress?(fraction / 2)
      }
      return try writer.inMerge {
        try SourceImport(writer: writer, source: connection) { progress?(0.5 + $0 / 2) }.run()
      }
    }
  }

  private static func open(
    _ source: DatabaseSource, _ secret: SecretBytes?, temporary: String, progress: (Double) throws -> Void
  ) throws -> Connection {
    guard let secret else { return try Connection(plaintext: source.path, mode: .reader) }
    let pages = try SQLCipherSource(source.path, secret: secret)
    let key = SecretBytes(random: 32)
    try DatabaseFile.create(temporary)
    try pages.seal(to: PrivateFile.open(temporary, writing: true), key: key, progress: progress)
    return try Connection(path: temporary, key: key, mode: .reader, isTemporary: true, pageSize: pages.pageSize)
  }
}

/// What was not there before a replica was made, and goes when that fails.
private struct MadeFiles {
  private let folder: ReplicaFolder
  private let hadFolder: Bool
  private let hadKeyring: Bool

  init(_ folder: ReplicaFolder) {
    self.folder = folder
    hadFolder = PrivateFile.exists(folder.path)
    hadKeyring = folder.hasKeyring
  }

  func remove() {
    DatabaseFile.removeNames(of: folder.database)
    if !hadKeyring {
      for suffix in ["", ".lock", ".anchor", ".anchor.lock"] { unlink(folder.keys.keyring + suffix) }
    } else {
      // The identity stays, without the salt of a database that is gone.
      try? Keyring.update(at: folder.keys) { $0.databaseSalt = nil }
      for suffix in [".anchor", ".anchor.lock"] { unlink(folder.keys.keyring + suffix) }
    }
    for name in ["database-gate", "rekey.lock", "lock"] { unlink("\(folder.path)/\(name)") }
    // Only when nothing else is in it; a machine key that was made stays.
    if !hadFolder { rmdir(folder.path) }
  }
}
