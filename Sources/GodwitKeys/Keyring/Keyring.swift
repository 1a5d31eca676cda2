import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto

/// The file that holds a replica's keys, sealed under a master key that its slots unlock.
///
/// A reader sees one generation whole, whatever a writer does at the time; writers wait for each other.
package enum Keyring {
  /// What the file can have: the largest roster, with hybrid keys, has 50 MB (Specs/membership.md, "What is kept").
  package static let byteCountMax = 64 << 20

  /// Makes a keyring of generation 1 with one slot, for the first of the location's secrets. A machine key file is made
  /// when that is missing.
  ///
  /// Throws `replicaExists` when there is a keyring already, `invalidKey` when the machine key file holds
  /// something else, and what ``PrivateFile`` and fetching the secret throw.
  package static func create(at location: KeyringLocation, contents: KeyringContents) throws {
    try PrivateFile.makeParent(of: location.keyring)
    try ParentFolders.check(of: location.keyring)
    func requireNone() throws {
      guard !PrivateFile.exists(location.keyring) else {
        throw GodwitError(
          .replicaExists, "there is a keyring at \(location.keyring) already",
          hint: "open that replica, or choose another path")
      }
    }
    try requireNone()
    let masterKey = SecretBytes(random: KeyringSlot.masterKeyByteCount)
    let (slot, token) = try firstSlot(location, masterKey)
    var contents = contents
    contents.setSlotTokens(token.map { [$0] } ?? [])
    let lock = try LockFile(lockPath(location))
    try withExtendedLifetime(lock) {
      try requireNone()
      try Leftovers.remove(of: location.keyring)
      let file = try KeyringFile(sealing: contents, generation: 1, slots: [slot], masterKey: masterKey)
      try PrivateFile.replace(location.keyring, with: file.bytes)
      if location.secrets.first?.path == nil { location.opened.current = masterKey }
    }
  }

  private static func firstSlot(
    _ location: KeyringLocation, _ masterKey: SecretBytes
  ) throws -> (KeyringSlot, SlotToken?) {
    guard let secret = location.secrets.first else {
      throw GodwitError(.invalidArgument, "a new keyring needs a secret that opens it")
    }
    if let path = secret.path {
      return (try KeyringSlot(wrapping: masterKey, with: MachineKeyFile.readOrCreate(path)), nil)
    }
    let (slot, token) = try FactorSlot.new(
      wrapping: masterKey, label: "\(secret.kind)", addedAt: 0,
      factors: [secret.newFactor(cost: Scrypt.costDefault)])
    return (slot.slot, token)
  }

  /// Reads a keyring.
  ///
  /// Throws `missingKeyring`, `noKeyFits` when no offered secret opens a slot, `damagedKeyring`,
  /// `unsupportedVersion`, `limitExceeded` beyond 64 MiB, and `unsafeFile` for loose permissions or links.
  package static func open(at location: KeyringLocation) throws -> KeyringContents {
    try unlock(location).contents
  }

  /// Opens a keyring, if there is one, ahead of a lock: what opens it may be a person's answer or a command's, which
  /// are no time to hold locks. The next opening needs neither.
  ///
  /// Throws what ``open(at:)`` throws.
  package static func prepare(at location: KeyringLocation) throws {
    let mayTakeLong = location.secrets.contains { $0.path == nil }
    guard mayTakeLong, PrivateFile.exists(location.keyring) else { return }
    _ = try unlock(location)
  }

  /// Changes a keyring in one step: the change sees what is on disk now, and no other writer comes between.
  ///
  /// When `change` throws, the keyring stays as it was. Throws what ``open(at:)`` throws, too.
  package static func update<T>(
    at location: KeyringLocation, _ change: (inout KeyringContents) throws -> T
  ) throws -> T {
    try rewrite(location) { try change(&$0.contents) }
  }

  /// Whether a file that begins so is a keyring.
  package static func isKeyring(_ start: [UInt8]) -> Bool { start.starts(with: KeyringFile.magic) }

  /// A keyring that is open, and what of it may be changed.
  struct Opened {
    let file: KeyringFile
    var contents: KeyringContents
    var masterKey: SecretBytes
    var slots: [KeyringSlot]
    /// What the next generation is to be greater than.
    var generation: UInt64
  }

  /// Reads, changes and replaces the file under its lock.
  ///
  /// - Parameter known: Returns a generation that has been seen: a change of an earlier one would hide that it was put
  ///   back.
  static func rewrite<T>(
    _ location: KeyringLocation, _ opener: SlotOpener? = nil, notBefore known: KnownGeneration? = nil,
    _ change: (inout Opened) throws -> T
  ) throws -> T {
    try requireKeyring(location.keyring)
    if opener == nil { try prepare(at: location) }
    // Whom it asks may want the lock.
    let known = try known?(unlock(location, opener).contents) ?? 0
    let lock = try LockFile(lockPath(location))
    return try withExtendedLifetime(lock) {
      var opened = try unlock(location, opener)
      guard opened.generation >= known else { throw rolledBack(location.keyring, opened.generation, known) }
      let result = try change(&opened)
      guard opened.generation < UInt64.max else {
        throw GodwitError(.damagedKeyring, "the keyring's generation cannot grow")
      }
      let next = try KeyringFile(
        sealing: opened.contents, generation: opened.generation + 1, slots: opened.slots, masterKey: opened.masterKey)
      try Leftovers.remove(of: location.keyring)
      try PrivateFile.replace(location.keyring, with: next.bytes)
      if location.opened.current != nil { location.opened.current = opened.masterKey }
      return result
    }
  }

  static func unlock(_ location: KeyringLocation, _ opener: SlotOpener? = nil) throws -> Opened {
    let file = try read(location.keyring)
    // The key at hand opens the file unless that was sealed anew under another one; then its slots are asked.
    let opened = location.opened
    if let masterKey = opened.current, let contents = try? file.contents(masterKey: masterKey, after: opened) {
      return Opened(file, contents, masterKey)
    }
    let (masterKey, isByMachineKey) = try (opener ?? SlotOpener(location.secrets)).masterKey(of: file)
    let contents = try file.contents(masterKey: masterKey, after: opened)
    opened.current = isByMachineKey ? nil : masterKey
    return Opened(file, contents, masterKey)
  }

  /// The file without opening it.
  static func read(_ path: String) throws -> KeyringFile {
    try requireKeyring(path)
    try ParentFolders.check(of: path)
    return try KeyringFile(parsing: PrivateFile.read(path, limit: byteCountMax))
  }

  private static func requireKeyring(_ path: String) throws {
    guard PrivateFile.exists(path) else {
      throw GodwitError(
        .missingKeyring, "there is no keyring at \(path)",
        hint: "restore it from a backup; without it the database cannot be opened")
    }
  }

  /// Returns the latest generation of a keyring that has been seen, given what is in it now.
  package typealias KnownGeneration = (KeyringContents) throws -> UInt64

  /// That a keyring is older than one that was seen.
  package static func rolledBack(_ path: String, _ found: UInt64, _ known: UInt64) -> GodwitError {
    GodwitError(
      .rolledBackKeyring,
      "the keyring \(path) is of generation \(found), but the database was opened with generation \(known)",
      hint: "restore the latest keyring; if it is lost, continue with this one by: godwit keyring accept")
  }

  static func lockPath(_ location: KeyringLocation) -> String { "\(location.keyring).lock" }
}

extension Keyring.Opened {
  fileprivate init(_ file: KeyringFile, _ contents: KeyringContents, _ masterKey: SecretBytes) {
    self.init(
      file: file, contents: contents, masterKey: masterKey, slots: file.slots, generation: file.generation)
  }
}
