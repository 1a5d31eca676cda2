import GodwitCrypto
import Synchronization

/// The master key that opened a keyring last, so that nobody is asked for a passphrase twice and no command runs with
/// every export. It opens the keyring until the master key is another one. What a machine key file opens is not kept:
/// reading that file again costs nothing, and checks it again.
final class OpenedKeyring: Sendable {
  private let masterKey = Mutex<SecretBytes?>(nil)

  var current: SecretBytes? {
    get { masterKey.withLock { $0 } }
    set { masterKey.withLock { $0 = newValue } }
  }
}
