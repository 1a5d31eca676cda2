import Foundation
import GodwitBase
import GodwitFiles

/// Whether nobody else could put another file in a secret one's place.
///
/// The folder itself must be this user's or root's, and nobody else's to write. Folders above may be a group's, as with
/// umask 002: whoever moves the folder away cannot make another that passes, for its owner is checked. A folder that
/// anybody may write to is refused unless all may only touch what is theirs (the sticky bit, as on /tmp).
enum ParentFolders {
  /// Throws `unsafeFile` with the command that mends it.
  static func check(of path: String) throws {
    guard let resolved = realpath(FilePath.folder(of: path), nil) else { return }  // opening the file says why
    defer { free(resolved) }
    var folder = String(cString: resolved)
    let nearest = try status(folder)
    guard nearest.st_uid == geteuid() || nearest.st_uid == 0 else {
      throw GodwitError(
        .unsafeFile, "the folder \(folder) belongs to user \(nearest.st_uid), who could replace what is in it",
        hint: "keep keys in a folder of your own")
    }
    guard nearest.st_mode & 0o022 == 0 else { throw shared(folder, "go-w") }
    while folder != "/" {
      folder = FilePath.folder(of: folder)
      let mode = try status(folder).st_mode
      guard mode & 0o002 == 0 || mode & S_ISVTX != 0 else { throw shared(folder, "o-w") }
    }
  }

  private static func status(_ folder: String) throws -> stat {
    var status = stat()
    guard lstat(folder, &status) == 0 else { throw GodwitError.file("read the folder", folder, errno) }
    return status
  }

  private static func shared(_ folder: String, _ change: String) -> GodwitError {
    GodwitError(
      .unsafeFile, "others can write to the folder \(folder), and so replace what is in it",
      hint: "run: chmod \(change) \(folder)")
  }
}
