/// Where a keyring lies and which secrets are offered to open it.
package struct KeyringLocation: Sendable {
  /// The path of the keyring file.
  package let keyring: String
  /// The path of the machine key file.
  package let machineKey: String
  /// What is tried, for the slots it fits; the first makes the slot of a new keyring.
  package let secrets: [SlotSecret]
  /// The paths of all machine key files.
  package var machineKeys: [String] {
    ([machineKey] + secrets.compactMap(\.path)).filter { !$0.isEmpty }
  }
  /// What this location has opened already.
  let opened = OpenedKeyring()

  /// Without `secrets`, the machine key alone is offered.
  package init(keyring: String, machineKey: String, secrets: [SlotSecret] = []) {
    self.keyring = keyring
    self.machineKey = machineKey
    self.secrets = secrets.isEmpty ? [.machineKey(at: machineKey)] : secrets
  }

  package init(keyring: String, secrets: [SlotSecret]) {
    self.init(keyring: keyring, machineKey: secrets.compactMap(\.path).first ?? "", secrets: secrets)
  }
}
