import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto

/// Keyrings in backups (Specs/backup.md): the file as it is, sealed to the slots it has.
extension Keyring {
  /// The bytes of the file, and what they hold.
  package static func bytes(at location: KeyringLocation) throws -> (bytes: [UInt8], contents: KeyringContents) {
    let opened = try unlock(location)
    return (opened.file.bytes, opened.contents)
  }

  /// Opens a keyring that lies in another file with what the location offers, and remembers how: nobody is asked again
  /// once it lies there.
  ///
  /// Throws as ``open(at:)``; `noKeyFits` with the slots that it has.
  package static func open(bytes: [UInt8], offering location: KeyringLocation) throws -> KeyringContents {
    let file = try KeyringFile(parsing: bytes)
    let (masterKey, isByMachineKey): (SecretBytes, Bool)
    do {
      (masterKey, isByMachineKey) = try SlotOpener(location.secrets).masterKey(of: file)
    } catch let error as GodwitError where error.code == .noKeyFits {
      let slots = try file.slotDescriptions().map { "\($0.label) (\($0.needs))" }.joined(separator: ", ")
      throw GodwitError(
        error.code, error.message,
        hint:
          "the slots of its keyring are \(slots); offer the secret of one with \(try file.slotDescriptions().options)",
        underlying: error)
    }
    let contents = try file.contents(masterKey: masterKey)
    if !isByMachineKey { location.opened.current = masterKey }
    return contents
  }

  /// The slots of a keyring that lies in another file, unproven.
  package static func slots(in bytes: [UInt8]) throws -> [SlotDescription] {
    try KeyringFile(parsing: bytes).slotDescriptions()
  }

  /// Puts a keyring where there is none.
  ///
  /// Throws `replicaExists` when there is one.
  package static func place(_ bytes: [UInt8], at location: KeyringLocation) throws {
    try PrivateFile.makeParent(of: location.keyring)
    try ParentFolders.check(of: location.keyring)
    let lock = try LockFile(lockPath(location))
    try withExtendedLifetime(lock) {
      guard !PrivateFile.exists(location.keyring) else {
        throw GodwitError(
          .replicaExists, "there is a keyring at \(location.keyring) already", hint: "choose another path")
      }
      try PrivateFile.replace(location.keyring, with: bytes)
    }
  }
}
