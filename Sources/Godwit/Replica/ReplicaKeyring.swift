import Foundation
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// The keyring of a replica and its slots, each of which opens it (Specs/keyring.md). The replica need not be open.
public struct ReplicaKeyring: Sendable {
  /// The keyring file.
  public var path: String { folder.keys.keyring }
  let folder: ReplicaFolder

  /// The keyring of the replica in a folder. Nothing is read yet.
  ///
  /// - Parameters:
  ///   - path: The replica's folder.
  ///   - key: Where the keyring is and what is offered to open it.
  public init(at path: String, key: Replica.KeySource = .keyring()) { folder = ReplicaFolder(path, key: key) }

  init(_ folder: ReplicaFolder) { self.folder = folder }

  /// What the file says of its slots, in order. Needs no secret, so it is unproven until ``test()``.
  public func slots() async throws -> [SlotDescription] {
    let path = path
    return try await BlockingThread.run { try Keyring.slots(at: path).slots }
  }

  /// Tries every slot with what is offered. Each secret is fetched once at most.
  public func test() async throws -> [(slot: SlotDescription, result: SlotDescription.Test)] {
    let keys = folder.keys
    return try await BlockingThread.run { try Keyring.test(at: keys) }
  }

  /// Adds a slot that opens the keyring with one secret, or with two together.
  ///
  /// - Parameters:
  ///   - label: What the slot is called; at most 64 bytes.
  ///   - secrets: What is to open it: all of them together. They are fetched now.
  /// - Throws: `invalidArgument` for a label that is taken or cannot be one, for two secrets that are the same, and for
  ///   a passphrase of fewer than 8 bytes; `noKeyFits` when nothing that is offered opens the keyring;
  ///   `rolledBackKeyring` when it is older than the database knows, and as opening does.
  public func add(label: String, openedBy secrets: [SlotSecret]) async throws {
    let milliseconds = Int64(Date().timeIntervalSince1970 * 1_000)
    try await change { keys, known in
      try Keyring.addSlot(at: keys, label: label, secrets: secrets, milliseconds: milliseconds, notBefore: known)
    }
  }

  /// Drops a slot and takes a new master key, so that the slot's secret opens nothing that is written from now on.
  /// Copies made before stay open to whoever has both.
  ///
  /// One of the slots that remain must open with what is offered, so that a slot that nobody can open, such as one of a
  /// passphrase with a slip in it, locks nobody out.
  ///
  /// - Parameters:
  ///   - slot: Its label or number.
  ///   - isForced: Whether to remove it though none of the others has been seen to open.
  /// - Throws: `notFound`; `invalidArgument` for the last slot; `noKeyFits` when no other slot opens, or one cannot be
  ///   given the new master key; `rolledBackKeyring` when the keyring is older than the database knows, and as opening
  ///   does.
  @discardableResult
  public func remove(_ slot: String, isForced: Bool = false) async throws -> SlotDescription {
    try await change { keys, known in
      try Keyring.removeSlot(at: keys, slot, isForced: isForced, notBefore: known)
    }
  }

  /// Seals the keyring under a new master key, which every slot opens as before.
  ///
  /// - Throws: `noKeyFits` when a slot cannot be given it: one of a machine key file that is not offered, or of another
  ///   version; `rolledBackKeyring` when the keyring is older than the database knows, and as opening does.
  public func rotateMasterKey() async throws {
    try await change { keys, known in try Keyring.rotateMasterKey(at: keys, notBefore: known) }
  }

  /// Changes a keyring that is no older than the database knows: a change makes the next generation, and would hide it.
  private func change<T: Sendable>(
    _ body: @escaping @Sendable (_ keys: KeyringLocation, _ known: @escaping Keyring.KnownGeneration) throws -> T
  ) async throws -> T {
    let folder = folder
    return try await BlockingThread.run { try body(folder.keys) { try KeyringRollback.known(in: folder, $0) } }
  }

  /// Continues with a keyring that is older than the database knows (`rolledBackKeyring`). Members that were removed
  /// and slots that were dropped since then are back until they are removed once more.
  ///
  /// - Throws: `noReplica`, and as opening does.
  public func accept() async throws {
    let folder = folder
    guard folder.hasDatabase else {
      throw GodwitError(.noReplica, "there is no replica in \(folder.path)", hint: "make one with: godwit init")
    }
    try await BlockingThread.run {
      let contents = try folder.settledKeyring()
      let known = try KeyringRollback.known(in: folder, contents)
      guard contents.generation < known else { return }
      try Keyring.accept(at: folder.keys, above: known)
    }
  }

  /// A new recovery code: eight groups of four letters and digits, to be written on paper. Add it as a slot's secret.
  public static func newRecoveryCode() -> String { RecoveryCode().exportSecretText() }

  /// A new random key as one line of text, for a credential or a password manager.
  public static func newKey() -> String { String(decoding: MachineKeyFile.newText(), as: UTF8.self) }
}

extension Replica {
  /// The replica's keyring and its slots.
  public var keyring: ReplicaKeyring { ReplicaKeyring(folder) }
}
