import Foundation
import GodwitBase

/// Whether nobody else could put another file in a secret one's place.
///
/// The folder itself must be this user's or root's, and nobody else's to write; where it is asked for, others may write
/// to it when all may only touch what is theirs. Folders above may be a group's, as with
/// umask 002: whoever moves the folder away cannot make another that passes, for its owner is checked. A folder that
/// anybody may write to is refused unless all may only touch what is theirs (the sticky bit, as on /tmp).
package enum ParentFolders {
  /// Throws `unsafeFile` with the command that mends it.
  ///
  /// - Parameter besideOthers: Whether the folder may be one with the sticky bit, as /tmp.
  package static func check(of path: String, besideOthers: Bool = false) throws {
    guard let resolved = realpath(FilePath.folder(of: path), nil) else { return }  // opening the file says why
    defer { free(resolved) }
    var folder = String(cString: resolved)
    let nearest = try status(folder)
    guard nearest.st_uid == geteuid() || nearest.st_uid == 0 else {
      throw GodwitError(
        .unsafeFile, "the folder \(folder) belongs to user \(nearest.st_uid), who could replace what is in it",
        hint: "choose a folder of your own")
    }
    let isSafe = nearest.st_mode & 0o022 == 0 || besideOthers && nearest.st_mode & S_ISVTX != 0
    guard isSafe else { throw shared(folder, "go-w") }
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
      hint: "run: chmod \(change) \(ShellWord.quoted(folder))")
  }
}
