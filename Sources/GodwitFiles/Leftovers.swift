import Foundation
import GodwitBase

/// Files under temporary names that a writer left when it was killed. One that lives holds a lock on its own.
package enum Leftovers {
  /// What SQLite keeps beside a database that is being made under a temporary name.
  private static let companions = ["-journal", "-wal", "-shm"]

  /// Removes those that ``PendingFile`` made for a path.
  package static func remove(of path: String) throws(GodwitError) {
    try remove(of: path) { $0.count == 1 && $0[0].allSatisfy(isDigit) }
  }

  /// Removes those of files `PATH.001`, `PATH.002` …
  package static func removeNumbered(of path: String) throws(GodwitError) {
    try remove(of: path) { parts in
      parts.count == 2 && parts[0].count == 3 && parts[0].allSatisfy(\.isNumber) && parts[1].allSatisfy(isDigit)
    }
  }

  /// - Parameter isTemporary: Judges what stands between the path's name and `.tmp`, in the parts that dots make.
  private static func remove(of path: String, where isTemporary: ([Substring]) -> Bool) throws(GodwitError) {
    let place = FilePath.folder(of: path)
    let prefix = "\(FilePath.name(of: path))."
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(".tmp") && name.count > prefix.count + 4
      && isTemporary(name.dropFirst(prefix.count).dropLast(4).split(separator: ".", omittingEmptySubsequences: false))
    {
      try removeUnlessWritten("\(place)/\(name)")
    }
  }

  /// Whoever has just made it, and not locked it yet, finds the name gone when it has the lock, and makes it anew.
  private static func removeUnlessWritten(_ path: String) throws(GodwitError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return }
    guard unlink(path) == 0 || errno == ENOENT else { throw .file("remove", path, errno) }
    for suffix in companions { unlink(path + suffix) }
  }

  /// Of base 36, as ``PendingFile`` names them.
  private static func isDigit(_ character: Character) -> Bool {
    character.isASCII && (character.isNumber || character.isLowercase)
  }
}
