import GodwitBase
import GodwitCrypto

extension Cache {
  /// What a cache without a replica is encrypted by.
  public struct Key: Sendable {
    /// 32 bytes.
    let key: @Sendable () throws -> SecretBytes

    /// A key in a file of its own, in the form of a machine key (Specs/keyring.md). When the file is missing it is
    /// made, with mode 0600: what the cache held then cannot be read any more, and the cache begins anew.
    ///
    /// - Parameter path: Keep it off the medium that the cache is on, or whoever has that has both.
    public static func file(_ path: String) -> Cache.Key {
      Cache.Key { try MachineKeyFile.readOrCreate(path).derived(for: "godwit cache 1") }
    }
  }
}
