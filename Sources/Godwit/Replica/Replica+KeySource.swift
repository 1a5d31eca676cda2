import GodwitFiles
import GodwitKeys
import Synchronization

extension Replica {
  /// Where a replica's keys are kept.
  public struct KeySource: Sendable {
    private let keyring: String?
    private let machineKey: String?
    private let secrets: [SlotSecret]
    /// Of a keyring that was opened by this call already: nobody is asked again.
    private var opened: KeyringLocation?
    /// What its copies share, where they do.
    private var locations: Locations?

    /// A keyring file, and the machine key file that opens it. Relative paths count from the process's folder at
    /// opening.
    ///
    /// - Parameters:
    ///   - path: The keyring; by default `keyring` in the replica's folder. Its folder must be writable: the file by
    ///     which a copy of the database is known lies beside it.
    ///   - machineKey: The machine key; by default `machine.key` in the replica's folder, or, where a keyring has none
    ///     beside it, the one by which the command line opens the user's replicas (`~/.config/godwit/machine.key`).
    ///     Keep it in another place than the folder to make a copy of that useless without it.
    public static func keyring(at path: String? = nil, machineKey: String? = nil) -> Replica.KeySource {
      Replica.KeySource(keyring: path, machineKey: machineKey, secrets: [])
    }

    /// A keyring file, and what is offered to open its slots. Each is fetched only when a slot asks for it.
    ///
    /// - Parameters:
    ///   - path: The keyring; by default `keyring` in the replica's folder.
    ///   - secrets: What is offered. The first opens a new keyring.
    public static func keyring(at path: String? = nil, openedBy secrets: [SlotSecret]) -> Replica.KeySource {
      Replica.KeySource(keyring: path, machineKey: nil, secrets: secrets)
    }

    /// The keys of a folder, and what has been fetched to open them.
    init(of folder: ReplicaFolder) {
      self.init(keyring: nil, machineKey: nil, secrets: [])
      opened = folder.keys
    }

    private init(keyring: String?, machineKey: String?, secrets: [SlotSecret]) {
      self.keyring = keyring
      self.machineKey = machineKey
      self.secrets = secrets
    }

    func location(in folder: String) -> KeyringLocation {
      if let opened { return opened }
      let keyring = keyring.map(FilePath.absolute) ?? "\(folder)/keyring"
      let machineKey = machineKey.map(FilePath.absolute) ?? MachineKeyPlace.existing(for: keyring, in: folder)
      let make = { KeyringLocation(keyring: keyring, machineKey: machineKey, secrets: secrets) }
      return locations?.location(of: [keyring, machineKey], make) ?? make()
    }

    /// The same, a keyring of which is open to all uses once one of them has opened it: nobody is asked again.
    package var shared: Replica.KeySource {
      var copy = self
      copy.locations = Locations()
      return copy
    }

    private final class Locations: Sendable {
      private let known = Mutex<[[String]: KeyringLocation]>([:])

      func location(of paths: [String], _ make: () -> KeyringLocation) -> KeyringLocation {
        known.withLock { known in
          let location = known[paths] ?? make()
          known[paths] = location
          return location
        }
      }
    }
  }
}
