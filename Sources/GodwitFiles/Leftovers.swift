import Foundation
import GodwitBase

/// Files under temporary names that a writer left when it was killed. One that lives holds a lock on its own. What has
/// another name than Godwit gives, or is not a plain file of this user's, is somebody else's and stays.
package enum Leftovers {
  /// What SQLite keeps beside a database that is being made under a temporary name.
  private static let companions = ["-journal", "-wal", "-shm"]

  /// Removes those that ``PendingFile`` made for a path.
  package static func remove(of path: String) throws(GodwitError) {
    let place = FilePath.folder(of: path)
    let prefix = "\(FilePath.name(of: path))."
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(".tmp") && name.count > prefix.count + 4
      && TemporaryName.isRandom(name.dropFirst(prefix.count).dropLast(4))
    {
      try removeUnlessWritten("\(place)/\(name)")
    }
  }

  /// Whoever has just made it, and not locked it yet, finds the name gone when it has the lock, and makes it anew.
  private static func removeUnlessWritten(_ path: String) throws(GodwitError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      return
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return }
    guard unlink(path) == 0 || [ENOENT, EPERM, EACCES].contains(errno) else { throw .file("remove", path, errno) }
    for suffix in companions { unlink(path + suffix) }
  }
}

/// `PATH.RANDOM.tmp`, RANDOM 64 random bits as 13 digits of base 36, from `0` to `z`.
enum TemporaryName {
  private static let digitCount = 13

  static func random(beside path: String) -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = String(UInt64.random(in: 0...UInt64.max, using: &generator), radix: 36)
    return "\(path).\(String(repeating: "0", count: digitCount - digits.count))\(digits).tmp"
  }

  static func isRandom(_ part: Substring) -> Bool {
    part.utf8.count == digitCount
      && part.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
      }
  }
}
