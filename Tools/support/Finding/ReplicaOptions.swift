import ArgumentParser
import Godwit

/// The options that every command of every tool takes.
public struct ReplicaOptions: ParsableArguments {
  /// A replica's folder, or one that holds `.godwit`.
  @Option(
    name: .customShort("C", allowingJoined: true),
    help: ArgumentHelp(
      "Use the replica in this folder, or in its .godwit. (default: .godwit here or in a folder above)",
      valueName: "path"), completion: .directory)
  public var path: String?

  /// The keyring file.
  @Option(
    help: ArgumentHelp(
      "The keyring file. (default: $GODWIT_KEYRING, or keyring beside the database)", valueName: "file"),
    completion: .file())
  public var keyring: String?

  /// The machine key file.
  @Option(
    help: ArgumentHelp(
      "The file with the key that opens the keyring. (default: $GODWIT_MACHINE_KEY, or ~/.config/godwit/machine.key)",
      valueName: "file"), completion: .file())
  public var machineKey: String?

  // What opens the keyring may be given several times, for slots that need two of one kind.

  /// Files with a passphrase that opens the keyring.
  @Option(
    help: ArgumentHelp(
      "A file with the keyring's passphrase; - is the standard input. (default: $GODWIT_PASSPHRASE_FILE, or asked for)",
      valueName: "file"), completion: .file())
  public var passphraseFile: [String] = []

  /// Credentials of systemd that open the keyring.
  @Option(
    help: ArgumentHelp(
      "The systemd credential that opens the keyring. (default: $GODWIT_CREDENTIAL)", valueName: "name"))
  public var credential: [String] = []

  /// Programs that print what opens the keyring.
  @Option(
    help: ArgumentHelp(
      "A program that prints what opens the keyring, without a shell: words, or a JSON array. (default: $GODWIT_KEY_COMMAND)",
      valueName: "command"))
  public var keyCommand: [String] = []

  /// Files with a recovery code.
  @Option(
    help: ArgumentHelp(
      "A file with the keyring's recovery code; - is the standard input. (default: asked for)", valueName: "file"),
    completion: .file())
  public var recoveryCodeFile: [String] = []

  /// Refuses a command that would read its data where it reads a secret, and secrets that are read in one place.
  ///
  /// - Parameter input: The command's own arguments, of which `-` is the standard input.
  public func claimInput(_ input: [String?]) throws {
    let secrets = (passphraseFile + recoveryCodeFile).count { $0 == "-" }
    guard secrets + input.count(where: { $0 == "-" }) < 2 else {
      throw ValidationError("the standard input is asked for twice; give one of them as a file")
    }
    guard secrets == 0 || !StandardStream.input.isTerminal else {
      throw ValidationError(
        "a secret is to come by the standard input, which is a terminal; without the option it is asked for there")
    }
  }

  /// Whether only data and errors are written.
  @Flag(name: .shortAndLong, help: "Write only data and errors.")
  public var quiet = false

  /// Whether data is written as JSON.
  @Flag(help: "Write data as JSON; streams as one object per line.")
  public var json = false

  /// All of them unset.
  public init() {}

  /// Finds the replica these options name.
  public var locator: ReplicaLocator {
    var offered = OfferedSecrets()
    offered.passphraseFiles = passphraseFile
    offered.recoveryCodeFiles = recoveryCodeFile
    offered.credentials = credential
    offered.commands = keyCommand.compactMap { try? OfferedSecrets.command($0) }
    return ReplicaLocator(path: path, keyring: keyring, machineKey: machineKey, offered: offered)
  }

  /// Refuses a key command that is no command.
  public func validate() throws {
    for command in keyCommand where (try? OfferedSecrets.command(command)) == nil {
      throw ValidationError("'--key-command' is neither words nor a JSON array of strings")
    }
    try claimInput([])
  }

  /// Writes as these options ask for.
  public var console: Console { Console(isQuiet: quiet, usesJSON: json) }

  /// Opens the replica that is there already and closes it after the body, also when that throws.
  public func withReplica<Output>(_ body: (Replica) async throws -> Output) async throws -> Output {
    let location = try locator.existing()
    return try await Replica.open(at: location.folder, configuration: .init(key: location.keys, mustExist: true))
      .closing(after: body)
  }
}
