import Foundation
import Godwit
import GodwitFiles
import GodwitKeys
import Synchronization

/// Where a replica and its keys lie, or will lie.
public struct ReplicaLocation: Hashable, Sendable {
  /// The replica's folder.
  public let folder: String
  /// The keyring file.
  public let keyring: String
  /// The file with the key that opens the keyring on this machine.
  public let machineKey: String
  /// What else is offered to open the keyring.
  public var offered = OfferedSecrets()

  /// The same as the library takes it. One for all uses of a location by a command: what has opened the keyring once,
  /// and may have been typed or come by a pipe, need not be given again.
  public var keys: Replica.KeySource {
    Self.known.withLock { known in
      if let source = known[self] { return source }
      let source = keysAnew.shared
      known[self] = source
      return source
    }
  }

  /// The same, which fetches again what opens the keyring.
  public var keysAnew: Replica.KeySource {
    .keyring(at: keyring, openedBy: offered.secrets(machineKey: machineKey))
  }

  private static let known = Mutex<[ReplicaLocation: Replica.KeySource]>([:])

  /// Whether there is a database.
  public var hasDatabase: Bool { FileManager.default.fileExists(atPath: "\(folder)/database") }
  /// Whether the machine key alone opens the keyring.
  public func opensByMachineKey() async throws -> Bool {
    let keyring = ReplicaKeyring(at: folder, key: .keyring(at: keyring, openedBy: [.machineKey(at: machineKey)]))
    return try await keyring.test().contains { $0.result == .opens }
  }
  /// Whether there is a keyring, which there is from the moment an identity was made.
  public var hasKeyring: Bool { FileManager.default.fileExists(atPath: keyring) }
}

/// Finds a replica as git finds a repository: where an option or the environment says, or else upwards from here.
///
/// Options come before the environment, and the environment before the defaults (Specs/cli.md, "Finding the replica").
public struct ReplicaLocator: Sendable {
  private let path: String?
  private let keyring: String?
  private let machineKey: String?
  private let offered: OfferedSecrets
  private let environment: [String: String]
  private let currentFolder: String

  /// - Parameters:
  ///   - path: The value of `-C`: a replica's folder, or one that holds or will hold `.godwit`.
  ///   - keyring: The value of `--keyring`.
  ///   - machineKey: The value of `--machine-key`.
  ///   - offered: The values of the other options about keys.
  public init(
    path: String?, keyring: String? = nil, machineKey: String? = nil, offered: OfferedSecrets = OfferedSecrets(),
    environment: [String: String] = ProcessInfo.processInfo.environment,
    currentFolder: String = FileManager.default.currentDirectoryPath
  ) {
    self.path = path
    self.keyring = keyring
    self.machineKey = machineKey
    self.offered = offered
    self.environment = environment
    self.currentFolder = currentFolder
  }

  /// The replica that is there already.
  ///
  /// - Throws: `noReplica` when none is found, `fileAccess` where one may lie that this user may not look into.
  public func existing() throws -> ReplicaLocation {
    if let path {
      let location = try location(in: Self.folder(for: path))
      guard location.hasDatabase || location.hasKeyring else {
        try Self.requireOpen(location.folder)
        throw Self.noReplica(path)
      }
      return location
    }
    guard let folder = try searchUpwards(Self.requireOpen) else { throw Self.noReplica(currentFolder, andAbove: true) }
    return try location(in: folder)
  }

  /// The replica that is there already, or else the place where one is to be made.
  public func existingOrNew() throws -> ReplicaLocation {
    if let path { return try location(in: Self.folder(for: path)) }
    return try location(in: searchUpwards() ?? Self.join(currentFolder, Replica.innerFolderName))
  }

  /// Where a replica is to be made for the working folder `name`, which counts from the folder of `-C` or from here.
  public func new(in name: String? = nil) throws -> ReplicaLocation {
    let folder = path ?? currentFolder
    return try location(in: Self.folder(for: name.map { Self.join(folder, $0) } ?? folder))
  }

  private func location(in folder: String) throws -> ReplicaLocation {
    ReplicaLocation(
      folder: folder,
      keyring: keyring ?? variable("GODWIT_KEYRING") ?? Self.join(folder, "keyring"),
      machineKey: machineKey ?? variable("GODWIT_MACHINE_KEY") ?? keyPlace(in: folder),
      offered: try completed())
  }

  /// Options, then the environment, whose variables name places and never hold a secret.
  private func completed() throws -> OfferedSecrets {
    var completed = offered
    if completed.passphraseFiles.isEmpty {
      completed.passphraseFiles = variable("GODWIT_PASSPHRASE_FILE").map { [$0] } ?? []
    }
    if completed.credentials.isEmpty { completed.credentials = variable("GODWIT_CREDENTIAL").map { [$0] } ?? [] }
    if completed.commands.isEmpty, let text = variable("GODWIT_KEY_COMMAND") {
      completed.commands = [try OfferedSecrets.command(text)]
    }
    return completed
  }

  /// That of a program's own replica lies in its folder; all others have the user's.
  private func keyPlace(in folder: String) -> String {
    let beside = MachineKeyPlace.beside(folder)
    return PrivateFile.exists(beside) ? beside : MachineKeyPlace.user(environment)
  }

  /// A variable that is set and not empty.
  private func variable(_ name: String) -> String? {
    environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private func searchUpwards(_ look: (String) throws -> Void = { _ in }) rethrows -> String? {
    var folder = currentFolder
    while true {
      let candidate = Self.join(folder, Replica.innerFolderName)
      if Replica.lies(in: candidate) { return candidate }
      try look(candidate)
      guard folder != "/", !folder.isEmpty else { return nil }
      folder = FilePath.folder(of: folder)
    }
  }

  private static func requireOpen(_ folder: String) throws {
    guard access(folder, X_OK) != 0, errno == EACCES else { return }
    throw GodwitError(
      .fileAccess, "\(folder) is not open to this user: Permission denied",
      hint: "run as the user whose replica it is, or say where another one is with -C PATH")
  }

  private static func folder(for path: String) -> String {
    let inner = join(path, Replica.innerFolderName)
    if Replica.lies(in: inner) { return inner }
    return Replica.lies(in: path) || FilePath.name(of: path) == Replica.innerFolderName ? path : inner
  }

  private static func join(_ folder: String, _ name: String) -> String {
    name.hasPrefix("/") || folder.isEmpty ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  private static func noReplica(_ path: String, andAbove: Bool = false) -> GodwitError {
    GodwitError(
      .noReplica,
      path.isEmpty
        ? "the folder that the program was started in is no more"
        : "there is no replica in \(path)\(andAbove ? " or above it" : "")",
      hint: "make one with: godwit init, or godwit identity and then godwit join INVITATION; or say where with -C PATH")
  }
}
