import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// Puts another file in the database's place, under another key, so that a kill at any instant leaves one of them whole
/// with its key at hand (Specs/rekey.md).
struct DatabaseSwap {
  private let folder: ReplicaFolder

  init(_ folder: ReplicaFolder) { self.folder = folder }

  /// Where the new file is made.
  var newFile: String { "\(folder.database).new" }
  /// Where another file may be made that goes in any case.
  var otherFile: String { "\(folder.database).old" }
  private var lockPath: String { "\(folder.path)/rekey.lock" }
  private static let patienceMilliseconds = 5_000

  /// Keeps others from exchanging the database meanwhile, and shows that it is being done.
  func lock() throws -> LockFile {
    guard let lock = try LockFile(lockPath, isShared: false, waitingMilliseconds: Self.patienceMilliseconds) else {
      throw GodwitError(.busy, Self.underWay, hint: "wait until that is done")
    }
    return lock
  }

  private static let underWay = "the database is being rekeyed or restored by another program"

  /// Names to one who could not write who it was that kept the database to itself, when that is one who exchanges it:
  /// SQLite knows only that somebody does.
  func explain(_ error: any Error) -> any Error {
    guard (error as? GodwitError)?.code == .busy, (try? isUnderWay()) == true else { return error }
    return GodwitError(
      .busy, Self.underWay,
      hint: "nothing was written; wait until that is done, then try again. Reading continues meanwhile",
      underlying: error)
  }

  /// Whether a killed process left something to finish or to undo.
  func isUnsettled(_ contents: KeyringContents) throws -> Bool {
    guard try contents.pendingDatabase != nil || PrivateFile.exists(newFile) || PrivateFile.exists(otherFile) else {
      return false
    }
    return try !isUnderWay()
  }

  /// Whether a living process holds ``lock()``.
  func isUnderWay() throws -> Bool {
    try LockFile(lockPath, isShared: true, waitingMilliseconds: 0) == nil
  }

  // MARK: Making the new file
  // Each of these wants the lock.

  /// Notes the key of a new file before a byte is written with it.
  func begin(key: SecretBytes) throws {
    try settle()
    try Keyring.update(at: folder.keys) { $0.setPendingDatabase(PendingDatabase(key: key)) }
  }

  /// Takes the new file, which is whole, for the database.
  ///
  /// - Parameters:
  ///   - isOpenElsewhere: Whether others may have the present one open: its write lock is held then. Otherwise it is
  ///     `busy` when anybody has.
  ///   - mark: The present one's; it is `busy`, too, when it has another by now.
  func commit(isOpenElsewhere: Bool, unchangedSince mark: Mark? = nil) throws {
    try PrivateFile.open(newFile, writing: true).synchronize()
    guard let salt = try DatabaseFile.salt(newFile) else {
      throw GodwitError(.damagedDatabase, "the new database is empty")
    }
    try Keyring.update(at: folder.keys) { contents in
      guard var pending = try contents.pendingDatabase else {
        throw GodwitError(.damagedKeyring, "the keyring has lost the new database's key")
      }
      pending.salt = salt
      contents.setPendingDatabase(pending)
    }
    let gate = try DatabaseGate.closed(for: folder.database)
    try withExtendedLifetime(gate) {
      if !isOpenElsewhere { try requireUnused() }
      guard try mark == nil || mark == self.mark() else { throw changed() }
      guard rename(newFile, folder.database) == 0 else {
        throw GodwitError.file("replace", folder.database, errno)
      }
      try finish()
    }
  }

  /// Throws `busy` when anybody has the database open.
  func requireUnused() throws {
    guard try !DatabaseFile.isInUse(folder.database) else {
      throw GodwitError(
        .busy, "the database in \(folder.path) is open in this or another program", hint: "end these programs first")
    }
  }

  /// What shows that the present database was written to, by whoever has closed it again since: a program that has a
  /// replica open may have its files closed.
  struct Mark: Equatable {
    fileprivate let database: FileLook?
    fileprivate let log: FileLook?
  }

  private func mark() throws -> Mark {
    Mark(database: try FileLook(folder.database), log: try FileLook("\(folder.database)-wal"))
  }

  /// Runs what only reads the present database, and returns the mark that it had all the time. Whoever reads it first
  /// may finish what a killed program left.
  func reading(_ body: () throws -> Void) throws -> Mark {
    for _ in 0..<3 {
      let mark = try mark()
      try body()
      if try self.mark() == mark { return mark }
    }
    throw changed()
  }

  private func changed() -> GodwitError {
    GodwitError(
      .busy, "a program has written to the database in \(folder.path) meanwhile", hint: "end these programs first")
  }

  /// Lets the new file go, when it came to nothing.
  func abandon() { try? settle() }

  // MARK: After a kill

  /// Finishes or undoes what a killed process left. The database is the new file exactly when it begins as that did.
  func settle() throws {
    guard folder.hasKeyring, let pending = try Keyring.open(at: folder.keys).pendingDatabase else {
      return removeNewFiles()
    }
    let gate = try DatabaseGate.closed(for: folder.database)
    try withExtendedLifetime(gate) {
      if let salt = pending.salt, folder.hasDatabase, try DatabaseFile.salt(folder.database) == salt {
        return try finish()
      }
      removeNewFiles()
      try Keyring.update(at: folder.keys) { $0.setPendingDatabase(nil) }
    }
  }

  /// The old file has no name any more; its log must not meet the new one, and must not go while a power cut could
  /// bring the old name back. Behind the closed gate.
  private func finish() throws {
    try PrivateFile.synchronizeFolder(folder.path)
    DatabaseFile.removeNames(of: folder.database, logOnly: true)
    try PrivateFile.synchronizeFolder(folder.path)
    try Keyring.update(at: folder.keys) { try $0.takePendingDatabase() }
    removeNewFiles()
  }

  private func removeNewFiles() { for file in [newFile, otherFile] { DatabaseFile.removeNames(of: file) } }
}
