import Foundation
import GodwitBase
import GodwitFiles

/// The file with the key that opens keyrings on this machine: one line of Bech32 that starts with
/// `GODWIT-MACHINE-KEY-1`, holding 32 random bytes.
package enum MachineKeyFile {
  private static let textPrefix = "GODWIT-MACHINE-KEY-"
  private static let keyByteCount = 32
  private static let fileByteCountMax = 1_024

  /// Whether a file that begins so is a machine key.
  package static func isMachineKey(_ start: [UInt8]) -> Bool { start.starts(with: textPrefix.utf8) }

  /// The key in the file, made when there is none; safe against another process that does the same.
  package static func readOrCreate(_ path: String) throws -> SecretBytes {
    try PrivateFile.makeParent(of: path)
    try ParentFolders.check(of: path)
    let lock = try LockFile("\(path).lock")
    return try withExtendedLifetime(lock) {
      if PrivateFile.exists(path) { return try read(path) }
      try Leftovers.remove(of: path)
      let key = SecretBytes(random: keyByteCount)
      var text = text(of: key)
      defer { text.wipe() }
      try PrivateFile.replace(path, with: text)
      return key
    }
  }

  /// Throws `invalidKey` for a file that holds something else, and what ``PrivateFile`` throws.
  package static func read(_ path: String) throws -> SecretBytes {
    try ParentFolders.check(of: path)
    let file = try PrivateFile.open(path)
    // Into one buffer: one that grows leaves copies behind.
    var text = [UInt8](repeating: 0, count: fileByteCountMax + 1)
    defer { text.wipe() }
    let count = try text.withUnsafeMutableBytes { try file.readFully(into: $0) }
    guard count <= fileByteCountMax else {
      throw GodwitError(.limitExceeded, "\(path) is larger than \(fileByteCountMax) bytes")
    }
    var line = Array(text[..<count])
    defer { line.wipe() }
    if line.last == UInt8(ascii: "\n") { line.removeLast() }
    var (prefix, data) = try Bech32.decode(line, what: "the machine key")
    defer { data.wipe() }
    guard prefix == textPrefix, data.count == keyByteCount else {
      throw GodwitError(.invalidKey, "\(path) is not a machine key file", hint: "restore it from a backup")
    }
    return SecretBytes(copying: data)
  }

  /// One line with its end.
  package static func text(of key: SecretBytes) -> [UInt8] {
    var text = key.withUnsafeBytes { Bech32.encode(prefix: textPrefix, data: $0) }
    text.append(UInt8(ascii: "\n"))  // into room that the encoder left, so nothing is copied
    return text
  }

  /// The key, when the text is one in this form.
  package static func key(in text: SecretBytes) -> SecretBytes? {
    var bytes = text.withUnsafeBytes(Array.init)
    defer { bytes.wipe() }
    guard var decoded = try? Bech32.decode(bytes, what: "the key") else { return nil }
    defer { decoded.data.wipe() }
    guard decoded.prefix == textPrefix, decoded.data.count == keyByteCount else { return nil }
    return SecretBytes(copying: decoded.data)
  }

  /// A new key as text, for a credential or another place to keep it.
  package static func newText() -> [UInt8] { text(of: SecretBytes(random: keyByteCount)) }
}
