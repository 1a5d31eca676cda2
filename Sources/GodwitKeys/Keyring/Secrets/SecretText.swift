import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto

/// A secret in a file or a stream: all of it but the end of its last line.
enum SecretText {
  static let byteCountMax = 4_096

  /// A file that the user names, also by a link, as secrets are mounted. What comes by a descriptor may be whatever it
  /// is: its mode is the affair of who opened it.
  ///
  /// - Parameter name: What the user calls it; messages have this.
  static func read(file path: String, called name: String) throws -> SecretBytes {
    // As it was handed over: to open it by its name takes rights to it anew, which its user need not have.
    let input = path == "/dev/stdin" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : -1
    let descriptor = input >= 0 ? input : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw GodwitError.file("open", name, errno) }
    let file = FileDescriptor(descriptor, path: name)
    var status = stat()
    guard fstat(file.rawValue, &status) == 0 else { throw GodwitError.file("read the state of", name, errno) }
    // A file is read from its beginning, however often.
    if input >= 0, status.st_mode & S_IFMT == S_IFREG { lseek(input, 0, SEEK_SET) }
    if !isDescriptor(path), status.st_mode & S_IFMT == S_IFREG { try check(status, path, name) }
    return try read(file, name)
  }

  /// Throws `unsafeFile` for what others can read, or could put another file in the place of.
  private static func check(_ status: stat, _ path: String, _ name: String) throws {
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw GodwitError(
        .unsafeFile, "\(name) holds a secret and belongs to user \(status.st_uid)",
        hint: "copy it to a file of your own")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw GodwitError(
        .unsafeFile, "\(name) holds a secret and is open to other users",
        hint: "run: chmod 600 \(ShellWord.quoted(name))")
    }
    guard let resolved = realpath(path, nil) else { throw GodwitError.file("find", name, errno) }
    defer { free(resolved) }
    for place in [path, String(cString: resolved)] { try ParentFolders.check(of: place, besideOthers: true) }
  }

  /// `/dev/stdin`, `/dev/fd/N` and `/proc/self/fd/N` alone: a path that only begins so leads anywhere.
  private static func isDescriptor(_ path: String) -> Bool {
    if path == "/dev/stdin" { return true }
    return ["/dev/fd/", "/proc/self/fd/"].contains { folder in
      let number = path.utf8.dropFirst(folder.utf8.count)
      return path.hasPrefix(folder) && !number.isEmpty && number.allSatisfy { (0x30...0x39).contains($0) }
    }
  }

  /// Throws `limitExceeded` beyond 4 KiB, `noKeyFits` when there is nothing.
  static func read(_ source: any ByteSource, _ what: String) throws -> SecretBytes {
    var buffer = [UInt8](repeating: 0, count: byteCountMax + 1)
    defer { buffer.wipe() }
    let count = try buffer.withUnsafeMutableBytes { try source.readFully(into: $0) }
    guard count <= byteCountMax else {
      throw GodwitError(.limitExceeded, "\(what) has more than \(byteCountMax) bytes")
    }
    var end = count
    if end > 0, buffer[end - 1] == UInt8(ascii: "\n") { end -= 1 }
    if end > 0, end < count, buffer[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    guard end > 0 else { throw GodwitError(.noKeyFits, "\(what) is empty") }
    return SecretBytes(copying: buffer[..<end])
  }
}
