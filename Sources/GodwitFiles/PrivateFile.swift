import Foundation
import GodwitBase

/// Opens files that hold keys or data: never through a link, never another user's, never readable by others
/// (Specs/storage.md, section "Files").
package enum PrivateFile {
  /// Makes the folder and its missing parents, 0700 whatever the umask, so that a power cut does not take them; checks
  /// one that exists.
  ///
  /// Only folders made here are 0700; an existing parent keeps its mode.
  package static func makeFolder(_ path: String) throws(GodwitError) {
    try FilePath.check(path)
    var status = stat()
    if lstat(path, &status) == 0 || errno != ENOENT {
      return try checkFolder(path)
    }
    let parent = FilePath.folder(of: path)
    if parent != path, stat(parent, &status) != 0 { try makeFolder(parent) }
    guard mkdir(path, 0o700) == 0 else {
      // Somebody was faster, perhaps with a link.
      if errno == EEXIST { return try checkFolder(path) }
      throw .file("make the folder", path, errno)
    }
    guard chmod(path, 0o700) == 0 else { throw .file("protect the folder", path, errno) }
    do {
      try synchronizeFolder(parent)
    } catch {
      // A parent that this user may not read, or whose file system knows no such thing, keeps names in its own time.
      let forgiven = [EACCES, EPERM, EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP]
      guard let number = (error.underlying as? SystemFailure)?.number, forgiven.contains(number) else { throw error }
    }
  }

  /// Makes the folder that a file is to be in, as ``makeFolder(_:)`` does, unless there is one: others may look into
  /// it.
  package static func makeParent(of path: String) throws(GodwitError) {
    let folder = FilePath.folder(of: path)
    var status = stat()
    if stat(folder, &status) != 0 { try makeFolder(folder) }
  }

  /// A folder that is ours and that nobody else can enter.
  package static func checkFolder(_ path: String) throws(GodwitError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .file("read the folder", path, errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw GodwitError(.unsafeFile, "\(path) is not a folder", hint: "give a path that no link leads through")
    }
    try checkOwner(status, path)
    guard status.st_mode & 0o077 == 0 else {
      throw GodwitError(.unsafeFile, "\(path) is open to other users", hint: "run: chmod 700 \(ShellWord.quoted(path))")
    }
  }

  /// How often a file is opened anew that was replaced between being opened and being looked at.
  private static let openingsMax = 100

  /// Opens for reading what is a plain file of ours with mode 0600 or tighter.
  ///
  /// Throws `busy` when others replace the file each time that it has been opened.
  package static func open(_ path: String, writing: Bool = false) throws(GodwitError) -> FileDescriptor {
    for _ in 0..<openingsMax {
      if let file = try openOnce(path, writing: writing) { return file }
    }
    throw GodwitError(.busy, "\(path) is being replaced time and again", hint: "try again")
  }

  /// Nil for a file that has lost its name since it was opened.
  private static func openOnce(_ path: String, writing: Bool) throws(GodwitError) -> FileDescriptor? {
    let descriptor = Foundation.open(path, (writing ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ELOOP {
        throw GodwitError(.unsafeFile, "\(path) is a symbolic link", hint: "replace it by the file itself")
      }
      throw .file("open", path, errno)
    }
    let file = FileDescriptor(descriptor, path: path)
    return try check(file, path) ? file : nil
  }

  /// Refuses what is there under a name that somebody else opens, without looking at it, for writing: a link, no plain
  /// file, one with other names, or another user's.
  package static func requireOwn(_ path: String) throws(GodwitError) {
    var status = stat()
    // One without a name was removed while it was looked at: a database's log goes with its last connection.
    guard lstat(path, &status) == 0, status.st_nlink > 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw GodwitError(.unsafeFile, "\(path) is not a plain file", hint: "see who put it there, and remove it")
    }
    guard status.st_nlink == 1 else {
      throw GodwitError(
        .unsafeFile, "\(path) has \(status.st_nlink) hard links", hint: "see who put it there, and remove it")
    }
    try checkOwner(status, path)
  }

  /// Creates a file that must not exist yet, 0600 whatever the umask.
  package static func create(_ path: String) throws(GodwitError) -> FileDescriptor {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file("create", path, errno) }
    let file = FileDescriptor(descriptor, path: path)
    guard fchmod(descriptor, 0o600) == 0 else { throw .file("protect", path, errno) }
    return file
  }

  /// Replaces the file in one step: a reader sees the old content or the new, also after a crash.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(GodwitError) {
    let pending = try PendingFile(replacing: path)
    try pending.write(bytes)
    try pending.commit()
  }

  /// The whole file; refuses one larger than `limit` before reading it.
  package static func read(_ path: String, limit: Int) throws -> [UInt8] {
    let file = try open(path)
    guard try file.size() <= limit else {
      throw GodwitError(.limitExceeded, "\(path) is larger than \(limit) bytes")
    }
    return try file.readToEnd(limit: limit)
  }

  package static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Makes renames and new names in the folder durable.
  package static func synchronizeFolder(_ path: String) throws(GodwitError) {
    let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .file("open the folder", path, errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .file("synchronize the folder", path, errno) }
  }

  /// False for a file without a name.
  private static func check(_ file: FileDescriptor, _ path: String) throws(GodwitError) -> Bool {
    var status = stat()
    guard fstat(file.rawValue, &status) == 0 else { throw .file("read the state of", path, errno) }
    guard status.st_nlink > 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw GodwitError(.unsafeFile, "\(path) is not a plain file")
    }
    guard status.st_nlink == 1 else {
      throw GodwitError(.unsafeFile, "\(path) has \(status.st_nlink) hard links", hint: "copy it to a file of its own")
    }
    try checkOwner(status, path)
    guard status.st_mode & 0o077 == 0 else {
      throw GodwitError(
        .unsafeFile, "\(path) is open to other users", hint: "run: chmod 600 \(ShellWord.quoted(path))")
    }
    return true
  }

  private static func checkOwner(_ status: stat, _ path: String) throws(GodwitError) {
    guard status.st_uid == geteuid() else {
      throw GodwitError(.unsafeFile, "\(path) belongs to user \(status.st_uid), not to \(geteuid())")
    }
  }
}

extension GodwitError {
  /// An error for a failed system call on a file.
  package static func file(_ action: String, _ path: String, _ number: Int32) -> GodwitError {
    let reason = String(cString: strerror(number))
    switch number {
    case ENOSPC, EDQUOT:
      return GodwitError(
        .diskFull, "cannot \(action) \(path): \(reason)", hint: "free some space; nothing was changed",
        underlying: SystemFailure(number: number))
    case EACCES, EPERM:
      return GodwitError(
        .fileAccess, "cannot \(action) \(path): \(reason)", hint: "check who owns it and its mode",
        underlying: SystemFailure(number: number))
    default:
      return GodwitError(
        .fileAccess, "cannot \(action) \(path): \(reason)", underlying: SystemFailure(number: number))
    }
  }
}

/// What the system said, beside the error that came of it: for who knows better what it means there.
package struct SystemFailure: Error, CustomStringConvertible {
  /// As `errno` has it.
  package let number: Int32
  package var description: String { "errno \(number)" }
}
