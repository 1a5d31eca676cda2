import Foundation
import GodwitBase
import GodwitFiles

/// A file of a folder that others read, too: written under a temporary name that begins with a dot, and renamed when it
/// is whole. Who may read or write the folder may do so to the file, whatever this user's umask says.
final class FolderFile: ByteSink {
  private let place: String
  private let temporaryPath: String
  private let file: FileDescriptor
  private var isCommitted = false

  init(_ place: String) throws(GodwitError) {
    self.place = place
    var generator = SystemRandomNumberGenerator()
    temporaryPath = FolderLeftovers.path(for: place, digits: generator.next())
    let descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .file("create", temporaryPath, errno) }
    file = FileDescriptor(descriptor, path: temporaryPath)
    var status = stat()
    // Not every file system has modes.
    if stat(FilePath.folder(of: place), &status) == 0 { fchmod(descriptor, status.st_mode & 0o666) }
  }

  deinit { if !isCommitted { unlink(temporaryPath) } }

  /// When it was made, by the clock of its file system: seconds since 1970.
  var madeAt: Int {
    var status = stat()
    return fstat(file.rawValue, &status) == 0 ? status.st_mtim.tv_sec : 0
  }

  func write(_ buffer: UnsafeRawBufferPointer) throws { try file.write(buffer) }

  /// Some file systems rename over no file that exists; there the name is gone for a moment, which readers bear.
  func commit() throws(GodwitError) {
    try file.synchronize()
    if rename(temporaryPath, place) != 0 {
      guard errno == EEXIST || errno == EPERM, unlink(place) == 0, rename(temporaryPath, place) == 0 else {
        throw .file("replace", place, errno)
      }
    }
    isCommitted = true
    // Not every file system synchronizes folders; what is lost by that is published again.
    try? PrivateFile.synchronizeFolder(FilePath.folder(of: place))
  }
}

/// Temporary files that a writer left when it was killed: `.NAME.DIGITS.tmp`, DIGITS 16 hexadecimal ones.
enum FolderLeftovers {
  private static let age = 86_400

  static func path(for place: String, digits: UInt64) -> String {
    let text = String(digits, radix: 16)
    let padded = String(repeating: "0", count: 16 - text.count) + text
    return "\(FilePath.folder(of: place))/.\(FilePath.name(of: place)).\(padded).tmp"
  }

  /// Removes those beside a path that nobody has written to for a day, whoever made them: many a name is never
  /// written again, and nobody writes that slowly. Times are compared with that of a file that was just made there:
  /// this machine's clock may be off.
  static func remove(beside place: String, olderThan present: FolderFile) {
    let now = present.madeAt
    let folder = FilePath.folder(of: place)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where isTemporary(name, in: FilePath.name(of: folder)) {
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        // Whoever writes there gives it any time.
        max(0, now) - max(0, status.st_mtim.tv_sec) > age
      else { continue }
      unlink("\(folder)/\(name)")
    }
  }

  /// Whether it is called as ``path(for:digits:)`` has it, for an object of ours.
  private static func isTemporary(_ name: String, in folder: String) -> Bool {
    guard let match = name.wholeMatch(of: /\.(.+)\.[0-9a-f]{16}\.tmp/) else { return false }
    let object = String(match.output.1)
    return RemoteName(object) != nil || RemoteName("\(folder)/\(object)") != nil
  }
}
