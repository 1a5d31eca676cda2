import GodwitBase
import GodwitFiles
import GodwitCrypto

/// A secret that is offered to open a keyring's slots. It is fetched only when a slot asks for it.
public struct SlotSecret: Sendable {
  package let kind: SlotFactor.Kind
  /// The credential's name.
  let name: String
  /// The machine key's file.
  let path: String?
  /// Whether it is worth asking for only where a slot needs two of its kind.
  let isSecond: Bool
  /// What holds no key in the text form of a machine key has to be stretched.
  let fetch: @Sendable () throws -> SecretBytes

  private init(
    _ kind: SlotFactor.Kind, name: String = "", path: String? = nil, isSecond: Bool = false,
    fetch: @escaping @Sendable () throws -> SecretBytes
  ) {
    self.kind = kind
    self.name = name
    self.path = path
    self.isSecond = isSecond
    self.fetch = fetch
  }

  /// The key in a machine key file, which is made with a new keyring when it is missing.
  ///
  /// - Parameter path: A relative one counts, here as below, from the process's folder now.
  public static func machineKey(at path: String) -> SlotSecret {
    let path = FilePath.absolute(path)
    return SlotSecret(.machineKey, path: path) {
      guard PrivateFile.exists(path) else {
        throw GodwitError(
          .noKeyFits, "the machine key file \(path) is missing",
          hint: "restore it from a backup, or say where it is with --machine-key")
      }
      return try MachineKeyFile.read(path)
    }
  }

  /// A passphrase, asked for when a slot needs it.
  ///
  /// - Parameter ask: Gives its bytes, which are wiped after they were copied.
  public static func passphrase(_ ask: @escaping @Sendable () throws -> [UInt8]) -> SlotSecret {
    SlotSecret(.passphrase) {
      var bytes = try ask()
      defer { bytes.wipe() }
      return SecretBytes(copying: bytes)
    }
  }

  /// A passphrase at hand. Swift does not wipe strings, so prefer the form that asks.
  public static func passphrase(_ text: String) -> SlotSecret { passphrase { Array(text.utf8) } }

  /// A passphrase in a file, or on a descriptor as `/dev/fd/3`; the end of its line does not count.
  ///
  /// - Parameter path: A plain file must be open to this user alone.
  public static func passphrase(file path: String) -> SlotSecret {
    let place = FilePath.absolute(path)
    return SlotSecret(.passphrase) { try SecretText.read(file: place, called: path) }
  }

  /// A recovery code in a file, read as a passphrase is.
  public static func recoveryCode(file path: String) -> SlotSecret {
    let place = FilePath.absolute(path)
    return recoveryCode { try SecretText.read(file: place, called: path).withUnsafeBytes(Array.init) }
  }

  /// A credential that is in a file yet, to add its slot before the service runs.
  ///
  /// - Parameters:
  ///   - name: What the service will call it.
  ///   - path: A plain file must be open to this user alone.
  public static func credential(named name: String, file path: String) -> SlotSecret {
    let place = FilePath.absolute(path)
    return SlotSecret(.credential, name: name) {
      guard CredentialFile.isAcceptable(name) else { throw CredentialFile.unacceptableName() }
      return try SecretText.read(file: place, called: path)
    }
  }

  /// A credential of the service this process is, by its name in the folder that `$CREDENTIALS_DIRECTORY` names
  /// (systemd.exec(5), `LoadCredential=`).
  public static func credential(named name: String) -> SlotSecret {
    credential(named: name, in: CredentialFile.folder)
  }

  static func credential(named name: String, in folder: String?) -> SlotSecret {
    SlotSecret(.credential, name: name) { try CredentialFile.read(name, in: folder) }
  }

  /// What a program prints to its standard output. It is started directly, never through a shell, and found on `$PATH`.
  ///
  /// - Parameter arguments: The program and its arguments.
  public static func command(_ arguments: [String]) -> SlotSecret {
    SlotSecret(.command) { try SecretCommand.run(arguments) }
  }

  /// A recovery code, asked for when a slot needs it.
  ///
  /// - Parameter ask: Gives its text, which is wiped after it was read.
  public static func recoveryCode(_ ask: @escaping @Sendable () throws -> [UInt8]) -> SlotSecret {
    SlotSecret(.recoveryCode) {
      var bytes = try ask()
      defer { bytes.wipe() }
      return try RecoveryCode(bytes).secret
    }
  }

  /// The same secret, which is fetched only for slots that need two of its kind: a person is not asked for a second one
  /// where the first was wrong.
  package var asSecond: SlotSecret { SlotSecret(kind, name: name, path: path, isSecond: true, fetch: fetch) }

  /// A recovery code at hand.
  public static func recoveryCode(_ text: String) -> SlotSecret { recoveryCode { Array(text.utf8) } }

  /// The secret itself, where it opens something else than a keyring.
  package func read() throws -> SecretBytes { try fetch() }

  /// What the factor derives its key from.
  ///
  /// Throws `noKeyFits` when the secret is not of the form the factor was made for.
  func secret(for factor: SlotFactor, _ fetched: SecretBytes) throws -> SecretBytes {
    switch kind {
    case .machineKey, .recoveryCode, .passphrase: return fetched
    case .credential, .command:
      guard factor.cost == 0 else { return fetched }
      guard let key = MachineKeyFile.key(in: fetched) else {
        throw GodwitError(
          .noKeyFits, "the \(kind) holds no key", hint: "the slot was made for a GODWIT-MACHINE-KEY-1…")
      }
      return key
    }
  }

  /// A factor for a new slot, with what it derives its key from.
  func newFactor(cost: Int) throws -> (factor: SlotFactor, secret: SecretBytes) {
    let fetched = try fetch()
    switch kind {
    case .machineKey, .recoveryCode: return (SlotFactor(kind: kind, cost: 0, name: name), fetched)
    case .passphrase:
      guard fetched.count >= Self.passphraseByteCountMin else {
        throw GodwitError(
          .invalidArgument, "a passphrase has at least \(Self.passphraseByteCountMin) bytes",
          hint: "several random words are easy to remember")
      }
      return (SlotFactor(kind: kind, cost: cost, name: name), fetched)
    case .credential, .command:
      if let key = MachineKeyFile.key(in: fetched) { return (SlotFactor(kind: kind, cost: 0, name: name), key) }
      return (SlotFactor(kind: kind, cost: cost, name: name), fetched)
    }
  }

  private static let passphraseByteCountMin = 8
}
