import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys
import GodwitEngine

/// A place where something is to be written for others, judged by what lies there and not by how the path is spelt
/// (Specs/storage.md, "Files that are written").
struct WrittenPlace {
  private struct Identity: Equatable {
    let device: UInt64
    let inode: UInt64

    /// Of what lies there, through links; nil for nothing.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    init?(_ file: FileDescriptor) {
      var status = stat()
      guard fstat(file.rawValue, &status) == 0 else { return nil }
      (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
  }

  /// O_PATH (open(2)), which the C library's module does not export. Closing such a descriptor ends no lock of
  /// SQLite's.
  private static let pathOnly: Int32 = 0o10_000_000

  private let path: String
  private let name: String
  /// What lies there, held by a descriptor that neither reads nor locks: while others replace the file, no other gets
  /// its inode.
  private let held: FileDescriptor?
  private let target: Identity?
  /// The folder that the file is to be in, and those above it, nearest first, without links.
  private let folders: [String]

  init(_ path: String) {
    self.path = path
    name = FilePath.name(of: path)
    let descriptor = open(path, Self.pathOnly | O_CLOEXEC)
    held = descriptor < 0 ? nil : FileDescriptor(descriptor, path: path)
    target = held.flatMap { Identity($0) }
    guard let resolved = realpath(FilePath.folder(of: path), nil) else {
      folders = []  // Writing there says why.
      return
    }
    defer { free(resolved) }
    var folders = [String(cString: resolved)]
    while let last = folders.last, last != "/" { folders.append(FilePath.folder(of: last)) }
    self.folders = folders
  }

  /// Whether it is in a folder, however deep.
  func isIn(_ folder: String) -> Bool {
    guard let identity = Identity(folder) else { return false }
    return folders.contains { Identity($0) == identity }
  }

  /// Whether it is a file's place, or holds that file under another name. Letters count as the same in either case:
  /// there are file systems on which they are.
  func isOne(of files: [String]) -> Bool {
    let folder = folders.first.flatMap { Identity($0) }
    return files.contains { file in
      if let target, target == Identity(file) { return true }
      return folder != nil && folder == Identity(FilePath.folder(of: file))
        && FilePath.name(of: file).lowercased() == name.lowercased()
    }
  }

  /// Throws `unsafeFile` for a file of any replica, as far as that shows: a keyring, an anchor or a machine key
  /// wherever it lies, and Godwit's names in a replica's folder.
  func requireNoReplicasFile() throws {
    let start = Self.start(of: path)
    let kind =
      Keyring.isKeyring(start)
      ? "a keyring"
      : MachineKeyFile.isMachineKey(start) ? "a machine key" : Anchor.isAnchor(start) ? "the anchor of a replica" : nil
    if let kind {
      throw GodwitError(.unsafeFile, "\(path) is \(kind), which is not replaced", hint: Self.hint)
    }
    guard let folder = folders.first else { return }
    let isCache = FilePath.name(of: folder) == "cache" && folders.count > 1 && Self.isReplica(folders[1])
    guard isCache || Self.isReplica(folder) && Self.isGodwits(name.lowercased()) else { return }
    throw GodwitError(.unsafeFile, "\(path) is a replica's own file, which is not replaced", hint: Self.hint)
  }

  static let hint = "choose a file in another folder"

  private static func isReplica(_ folder: String) -> Bool {
    PrivateFile.exists("\(folder)/database-gate") || Keyring.isKeyring(start(of: "\(folder)/keyring"))
  }

  private static func isGodwits(_ name: String) -> Bool {
    ["database", "keyring", "machine.key"].contains(where: name.hasPrefix) || ["lock", "rekey.lock"].contains(name)
  }

  /// The first bytes of a plain file; none where they cannot be read.
  private static func start(of path: String) -> [UInt8] {
    guard let file = try? FileDescriptor.openPlainForReading(path) else { return [] }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = (try? bytes.withUnsafeMutableBytes { try file.readFully(into: $0) }) ?? 0
    return Array(bytes.prefix(count))
  }
}

extension ReplicaFolder {
  /// Refuses keys that are to lie in the place of another file of the replica.
  ///
  /// Throws `invalidArgument`.
  func requireDistinctFiles() throws {
    let names =
      ["", "-gate", "-wal", "-shm", "-journal", ".new", ".old"].map { "database\($0)" } + [
        "lock", "rekey.lock", "trial",
      ]
    func withLock(_ file: String) -> [String] { [file, "\(file).lock"] }
    let keyring = withLock(keys.keyring)
    let anchor = withLock(anchor.path)
    let others = names.map { "\(path)/\($0)" }
    let wanted =
      [(keyring, others + anchor), (anchor, others)]
      + keys.machineKeys.map { (withLock($0), others + keyring + anchor) }
    for (files, taken) in wanted {
      for file in files where WrittenPlace(file).isOne(of: taken) {
        throw GodwitError(
          .invalidArgument, "\(file) would be two of the replica's files",
          hint: "give the keyring and the machine key names of their own")
      }
    }
  }

  /// Refuses to write something for others in the replica's own folder, over its keys that lie elsewhere, and over
  /// files of other replicas.
  ///
  /// Throws `invalidArgument`, `unsafeFile`.
  func requireOutside(_ file: String) throws {
    let place = WrittenPlace(file)
    guard !place.isIn(path) else {
      throw GodwitError(.invalidArgument, "\(file) is in the replica's own folder", hint: WrittenPlace.hint)
    }
    let beside = [keys.keyring, anchor.path] + keys.machineKeys
    guard !place.isOne(of: beside.flatMap { [$0, "\($0).lock"] } + [database]) else {
      throw GodwitError(.invalidArgument, "\(file) is a file of the replica itself", hint: WrittenPlace.hint)
    }
    try place.requireNoReplicasFile()
  }
}
