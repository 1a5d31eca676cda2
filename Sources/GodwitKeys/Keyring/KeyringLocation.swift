/// Where a keyring and the key that unlocks it lie. They should be on different backups, if on any.
package struct KeyringLocation: Hashable, Sendable {
  /// The path of the keyring file.
  package var keyring: String
  /// The path of the machine key file.
  package var machineKey: String

  package init(keyring: String, machineKey: String) {
    self.keyring = keyring
    self.machineKey = machineKey
  }
}
