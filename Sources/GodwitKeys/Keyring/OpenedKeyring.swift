import GodwitBase
import GodwitCrypto
import Synchronization

/// What stays of a keyring that was opened.
///
/// The master key, so that nobody is asked for a passphrase twice and no command runs with every export. It opens the
/// keyring until the master key is another one. What a machine key file opens is not kept: reading that file again
/// costs nothing, and checks it again. And the members' records, which are no secret and take longest to read.
final class OpenedKeyring: Sendable {
  private let masterKey = Mutex<SecretBytes?>(nil)

  var current: SecretBytes? {
    get { masterKey.withLock { $0 } }
    set { masterKey.withLock { $0 = newValue } }
  }

  /// The records that were read last, and what they were read from.
  private let latest = Mutex<(bytes: [UInt8], members: [MemberRecord])>(([], []))

  /// Reads members' records, or skips the bytes of those that were read last.
  func members(
    reading reader: inout ByteReader, _ read: (inout ByteReader) throws -> [MemberRecord]
  ) throws -> [MemberRecord] {
    let ahead = reader.bytes[reader.position...]
    let known = latest.withLock { $0 }
    if !known.bytes.isEmpty, ahead.starts(with: known.bytes) {
      _ = try reader.raw(known.bytes.count)
      return known.members
    }
    let members = try read(&reader)
    // A copy: beside them are secrets.
    let bytes = Array(ahead[..<reader.position])
    latest.withLock { $0 = (bytes, members) }
    return members
  }
}
