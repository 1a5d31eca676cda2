import Foundation
import GodwitBase
import GodwitFiles

/// Whether nobody else could put another file in a secret one's place: every folder on the way to it belongs to this user
/// or root, and others cannot write there, unless they may only touch what is theirs (the sticky bit, as on /tmp).
enum ParentFolders {
  /// Throws `unsafeFile` with the command that mends it.
  static func check(of path: String) throws {
    guard let resolved = realpath(Keyring.folder(of: path), nil) else { return }  // opening the file says why
    defer { free(resolved) }
    var folder = String(cString: resolved)
    var isNearest = true
    while true {
      var status = stat()
      guard lstat(folder, &status) == 0 else { throw GodwitError.file("read the folder", folder, errno) }
      guard status.st_uid == geteuid() || status.st_uid == 0 else {
        throw GodwitError(
          .unsafeFile, "the folder \(folder) belongs to user \(status.st_uid), who could replace what is in it",
          hint: "keep keys in a folder of your own")
      }
      let isShared = status.st_mode & 0o022 != 0
      guard !isShared || (status.st_mode & S_ISVTX != 0 && !isNearest) else {
        throw GodwitError(
          .unsafeFile, "others can write to the folder \(folder), and so replace what is in it",
          hint: "run: chmod go-w \(folder)")
      }
      guard folder != "/" else { return }
      folder = Keyring.folder(of: folder)
      isNearest = false
    }
  }
}

/// Files under temporary names that a writer left when it was killed; only for whoever holds the lock.
enum Leftovers {
  static func remove(of path: String) throws {
    let folder = Keyring.folder(of: path)
    let prefix = "\((path as NSString).lastPathComponent)."
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(".tmp") && name.count > prefix.count + 4
      && name.dropFirst(prefix.count).dropLast(4).allSatisfy(isDigit)
    {
      guard unlink("\(folder)/\(name)") == 0 || errno == ENOENT else {
        throw GodwitError.file("remove", "\(folder)/\(name)", errno)
      }
    }
  }

  /// Of base 36, as ``PendingFile`` names them.
  private static func isDigit(_ character: Character) -> Bool {
    character.isASCII && (character.isNumber || character.isLowercase)
  }
}
