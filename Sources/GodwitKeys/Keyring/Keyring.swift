import Foundation
import GodwitBase
import GodwitFiles

/// The file that holds a replica's keys, sealed under a master key that a machine key file unlocks.
///
/// A reader sees one generation whole, whatever a writer does at the time; writers wait for each other.
package enum Keyring {
  /// Makes a keyring of generation 1, and the machine key file when that is missing.
  ///
  /// Throws `replicaExists` when there is a keyring already, `invalidKey` when the machine key file holds
  /// something else, and what ``PrivateFile`` throws.
  package static func create(at location: KeyringLocation, contents: KeyringContents) throws {
    try PrivateFile.makeFolder(folder(of: location.keyring))
    let lock = try LockFile(lockPath(location))
    try withExtendedLifetime(lock) {
      guard !PrivateFile.exists(location.keyring) else {
        throw GodwitError(
          .replicaExists, "there is a keyring at \(location.keyring) already",
          hint: "open that replica, or choose another path")
      }
      let machineKey = try MachineKeyFile.readOrCreate(location.machineKey)
      let masterKey = SecretBytes(random: KeyringSlot.masterKeyByteCount)
      let file = try KeyringFile(
        sealing: contents, generation: 1, slots: [KeyringSlot(wrapping: masterKey, with: machineKey)],
        masterKey: masterKey)
      try PrivateFile.replace(location.keyring, with: file.bytes)
    }
  }

  /// Reads a keyring.
  ///
  /// Throws `missingKeyring`, `noKeyFits` when the machine key is missing or another one, `damagedKeyring`,
  /// `unsupportedVersion`, `limitExceeded` beyond 1 MiB, and `unsafeFile` for loose permissions or links.
  package static func open(at location: KeyringLocation) throws -> KeyringContents {
    let (file, masterKey) = try unlock(location)
    return try file.contents(masterKey: masterKey)
  }

  /// Changes a keyring in one step: the change sees what is on disk now, and no other writer comes between.
  ///
  /// When `change` throws, the keyring stays as it was. Throws what ``open(at:)`` throws, too.
  package static func update<T>(
    at location: KeyringLocation, _ change: (inout KeyringContents) throws -> T
  ) throws -> T {
    try requireKeyring(location)
    let lock = try LockFile(lockPath(location))
    return try withExtendedLifetime(lock) {
      let (file, masterKey) = try unlock(location)
      var contents = try file.contents(masterKey: masterKey)
      let result = try change(&contents)
      guard file.generation < UInt64.max else {
        throw GodwitError(.damagedKeyring, "the keyring's generation cannot grow")
      }
      let next = try KeyringFile(
        sealing: contents, generation: file.generation + 1, slots: file.slots, masterKey: masterKey)
      try PrivateFile.replace(location.keyring, with: next.bytes)
      return result
    }
  }

  private static func unlock(_ location: KeyringLocation) throws -> (KeyringFile, masterKey: SecretBytes) {
    try requireKeyring(location)
    let file = try KeyringFile(
      parsing: PrivateFile.read(location.keyring, limit: KeyringFile.byteCountMax))
    guard PrivateFile.exists(location.machineKey) else {
      throw GodwitError(
        .noKeyFits, "the machine key file \(location.machineKey) is missing", hint: "restore it from a backup")
    }
    do {
      return (file, try file.masterKey(unlockedBy: MachineKeyFile.read(location.machineKey)))
    } catch let error as GodwitError where error.code == .invalidKey {
      throw GodwitError(
        .noKeyFits, "the machine key file \(location.machineKey) is damaged", hint: "restore it from a backup",
        underlying: error)
    }
  }

  private static func requireKeyring(_ location: KeyringLocation) throws {
    guard PrivateFile.exists(location.keyring) else {
      throw GodwitError(
        .missingKeyring, "there is no keyring at \(location.keyring)",
        hint: "restore it from a backup; without it the database cannot be opened")
    }
  }

  private static func lockPath(_ location: KeyringLocation) -> String { "\(location.keyring).lock" }

  static func folder(of path: String) -> String {
    let folder = (path as NSString).deletingLastPathComponent
    return folder.isEmpty ? "." : folder
  }
}
