import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto

/// A file that systemd hands to a service in the folder `$CREDENTIALS_DIRECTORY`.
enum CredentialFile {
  static let nameByteCountMax = 255

  /// The folder that systemd names.
  static var folder: String? { ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] }

  static func read(_ name: String, in folder: String?) throws -> SecretBytes {
    guard isAcceptable(name) else { throw unacceptableName() }
    guard let folder, folder.hasPrefix("/") else {
      throw GodwitError(
        .noKeyFits, "this process has no credentials of systemd",
        hint: "set LoadCredential= or LoadCredentialEncrypted= in the service's unit")
    }
    return try read(path: "\(folder)/\(name)", name)
  }

  static func isAcceptable(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= nameByteCountMax && name != "." && name != ".."
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 || $0 == 0x7F }
  }

  static func unacceptableName() -> GodwitError {
    GodwitError(.invalidArgument, "a credential's name is a file's name, without any folder")
  }

  private static func read(path: String, _ name: String) throws -> SecretBytes {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw GodwitError.file("open", path, errno) }
      throw GodwitError(.noKeyFits, "this process has no credential called \(name)")
    }
    let file = FileDescriptor(descriptor, path: path)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw GodwitError.file("read the state of", path, errno) }
    // systemd gives the file to the service's user, or to root with an entry for that user, which shows as the group's.
    let looseBits: mode_t = status.st_uid == 0 ? 0o037 : 0o077
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() || status.st_uid == 0,
      status.st_mode & looseBits == 0
    else { throw GodwitError(.unsafeFile, "the credential \(name) is not a file that only this user can read") }
    return try SecretText.read(file, "the credential \(name)")
  }
}
