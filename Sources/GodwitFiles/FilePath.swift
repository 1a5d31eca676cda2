import Foundation
import GodwitBase

/// The parts of a path. Foundation's `deletingLastPathComponent` of a string ends the process when the string is one
/// character, such as a replica in the folder `n`.
package enum FilePath {
  /// The folder that a file or folder is in, as dirname(1) says it: `.` for a name alone.
  package static func folder(of path: String) -> String {
    let bytes = trimmed(path)
    guard let slash = bytes.lastIndex(of: slash) else { return "." }
    guard slash > 0 else { return "/" }
    return String(decoding: trimmed(bytes[..<slash]), as: UTF8.self)
  }

  /// The last part, as basename(1) says it.
  package static func name(of path: String) -> String {
    let bytes = trimmed(path)
    guard bytes.count > 1, let slash = bytes.lastIndex(of: slash) else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes[(slash + 1)...], as: UTF8.self)
  }

  /// The path from the root on, by the folder that the process is in now; `path` itself when it begins there, or when
  /// the process is in no folder any more.
  package static func absolute(_ path: String) -> String {
    guard path.utf8.first != slash, let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    let folder = String(cString: current)
    return path.isEmpty || path == "." ? folder : "\(folder == "/" ? "" : folder)/\(path)"
  }

  /// The user's home folder, as a shell has it: `HOME`, or the system's record.
  package static var home: String {
    let own = ProcessInfo.processInfo.environment["HOME"] ?? ""
    return own.isEmpty ? NSHomeDirectory() : own
  }

  /// The path with the home folder in the place of `~/` at its beginning.
  package static func withHome(_ path: String) -> String {
    path.hasPrefix("~/") ? "\(home)/\(path.dropFirst(2))" : path
  }

  /// An absolute path without slashes at its end, and without `.` and `..` where it leads to something.
  package static func plain(_ path: String) -> String {
    let short = String(decoding: trimmed(path), as: UTF8.self)
    guard short.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }), let real = realpath(short, nil)
    else { return short }
    defer { free(real) }
    return String(cString: real)
  }

  /// The path to what this one leads to, without links; the same where it leads to nothing.
  package static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  /// Whether both lead to one file or folder, through links, too.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0, stat(other, &second) == 0 else { return one == other }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Throws `invalidArgument` for a path that the system would read in part only.
  package static func check(_ path: String) throws(GodwitError) {
    guard path.utf8.contains(0) else { return }
    throw GodwitError(.invalidArgument, "the path has a NUL, where the system ends it", hint: "give a path without it")
  }

  private static let slash = UInt8(ascii: "/")

  /// Without slashes at the end, but for a root.
  private static func trimmed(_ path: String) -> ArraySlice<UInt8> { trimmed(Array(path.utf8)[...]) }

  private static func trimmed(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let kept = path.lastIndex { $0 != slash }.map { $0 + 1 } ?? min(path.count, 1)
    return path[..<kept]
  }
}
