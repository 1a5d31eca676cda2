import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitEngine
import GodwitStorage

/// The folder a replica lives in: the database with its write-ahead log, the keyring, and a lock for their making.
struct ReplicaFolder {
  /// From the root on: the process may change its folder while the replica is open.
  let path: String
  let keys: KeyringLocation

  init(_ path: String, key: Replica.KeySource) {
    self.path = Self.holder(of: FilePath.absolute(path))
    keys = key.location(in: self.path)
  }

  /// A working folder's replica lies in its `.godwit`, where the command line makes it.
  private static func holder(of path: String) -> String {
    let inner = "\(path)/\(Replica.innerFolderName)"
    return !Replica.lies(in: path) && Replica.lies(in: inner) ? inner : path
  }

  var database: String { "\(path)/database" }
  var hasDatabase: Bool { PrivateFile.exists(database) }
  /// Beside the keyring, where a backup of the database alone does not reach.
  var anchor: AnchorFile { AnchorFile(path: "\(keys.keyring).anchor") }
  var hasKeyring: Bool { PrivateFile.exists(keys.keyring) }
  /// Whether there has been a replica that was whole: only a database that was opened makes an anchor.
  var wasEverOpen: Bool { PrivateFile.exists(anchor.path) }

  /// How long to wait for the folder's lock: longer than it takes to make or open a keyring, and no longer than who
  /// starts a service waits for it.
  private static let patienceMilliseconds = 30_000

  /// Makes the folder when it is missing, and keeps other processes from making the same replica meanwhile. Throws
  /// `busy` when one still does after a while, as one that restores, converts or migrates a large database.
  func lock() throws -> LockFile {
    try PrivateFile.makeFolder(path)
    // Where both are there the places have been looked at.
    if !hasDatabase || !hasKeyring { try requireDistinctFiles() }
    guard
      let lock = try LockFile("\(path)/lock", isShared: false, waitingMilliseconds: Self.patienceMilliseconds)
    else {
      throw GodwitError(
        .busy, "another program has begun to open, make, join or restore the replica in \(path), and is not done yet",
        hint: "wait until that is done; a migration takes as long as the tables are large")
    }
    return lock
  }

  /// The keyring; made with a new identity when there is neither keyring nor database. One that is there must be
  /// post-quantum when that is asked for.
  func keyring(postQuantum: Bool = false) throws -> KeyringContents {
    if hasKeyring {
      let contents = try Keyring.open(at: keys)
      guard contents.identity.publicIdentity.isPostQuantum || !postQuantum else {
        throw GodwitError(
          .invalidArgument, "the identity in \(path) is not post-quantum, and an identity keeps its kind",
          hint: "make another one in an empty folder")
      }
      return contents
    }
    guard !hasDatabase else {
      throw GodwitError(
        .missingKeyring, "the database \(database) is there, but its keyring \(keys.keyring) is not",
        hint: "restore the keyring; without it the database cannot be read")
    }
    var generator = SystemRandomNumberGenerator()
    let replica = ReplicaID(Identifier128.random(using: &generator))
    let identity = try Identity.generate(replica: replica, kind: postQuantum ? .hybrid : .x25519)
    let contents = KeyringContents(identity: identity)
    try Keyring.create(at: keys, contents: contents)
    return contents
  }

  /// The same after what a killed exchange of the database's file left is finished or undone. While a living process
  /// exchanges it, the keyring is as good as ever.
  func settledKeyring(postQuantum: Bool = false) throws -> KeyringContents {
    let contents = try keyring(postQuantum: postQuantum)
    let swap = DatabaseSwap(self)
    guard try swap.isUnsettled(contents) else { return contents }
    let lock = try swap.lock()
    return try withExtendedLifetime(lock) {
      try swap.settle()
      return try keyring()
    }
  }

  /// Makes this replica the first member of a new group.
  func foundGroup(name: String, wallClock: WallClock) throws -> KeyringContents {
    try Keyring.update(at: keys) { contents in
      var generator = SystemRandomNumberGenerator()
      let group = GroupID(Identifier128.random(using: &generator))
      contents.group = group
      contents.members = [
        try MemberRecord.issue(
          group: group, identity: contents.identity.publicIdentity, name: name, status: .active,
          at: wallClock.milliseconds(), by: contents.identity)
      ]
      return contents
    }
  }

  /// Makes the empty database file, unless there is one; distinguishes a lost database, or an emptied one, from one not
  /// made yet.
  func prepareDatabase(_ contents: KeyringContents) throws {
    guard hasDatabase else {
      guard contents.databaseSalt == nil else { throw lostDatabase() }
      return try DatabaseFile.create(database)
    }
    // SQLite would take an empty file for a new database, and drop the log that lies beside it.
    guard contents.databaseSalt != nil, try FileLook(database)?.byteCount == 0 else { return }
    throw GodwitError(
      .damagedDatabase, "the database \(database) is an empty file, and was none",
      hint: "keep what lies beside it, and put a backup in its place: godwit restore FILE")
  }

  /// Throws `noReplica` where there is no database, with what there is instead.
  func requireDatabase() throws {
    guard !hasDatabase else { return }
    if hasKeyring, wasEverOpen { throw lostDatabase() }
    let what = hasKeyring ? "an identity in \(path), but no replica yet" : "no replica in \(path)"
    throw GodwitError(
      .noReplica, "there is \(what)",
      hint: "make one with: godwit init, or godwit join INVITATION, also where joining was broken off")
  }

  func lostDatabase() -> GodwitError {
    GodwitError(
      .noReplica, "the keyring is there, but its database \(database) is not",
      hint: "put a backup in its place: godwit restore FILE; or start anew in another folder and join the group again")
  }

  /// A database that its own key does not open is damaged; another database has another salt.
  func explain(_ error: GodwitError, _ contents: KeyringContents) -> GodwitError {
    guard error.code == .wrongKey, let known = contents.databaseSalt,
      let salt = try? DatabaseFile.salt(database), salt == known
    else { return error }
    return GodwitError(
      .damagedDatabase, "the first page of \(database) is damaged",
      hint: "keep the file, restore a backup or join again from another replica", underlying: error)
  }
}

extension Replica {
  /// The folder inside a working folder that holds the replica.
  package static let innerFolderName = ".godwit"

  /// Whether a folder holds a replica, or the keyring of one that is to be.
  package static func lies(in folder: String) -> Bool {
    ["database", "keyring"].contains { name in
      // A project's folders may be called so, too.
      var status = stat()
      return lstat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
    }
  }
}
