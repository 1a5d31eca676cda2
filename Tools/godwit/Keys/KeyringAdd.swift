import ArgumentParser
import Godwit
import ToolSupport

struct KeyringAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a slot that opens the keyring; with two secrets it needs both.",
    discussion: """
      SECRET is one of:
        passphrase            asked for twice at the terminal
        passphrase:FILE       what a file holds, but for one line break at its end; - is the standard input
        recovery-code         made and printed, to be written on paper
        credential:NAME       the systemd credential of that name; --secret-file names a file with it until then
        command:COMMAND       what a program prints: words, or a JSON array; no shell reads it
        machine-key:FILE      another machine key file

      Examples:
        godwit keyring add passphrase
        godwit keyring add recovery-code --label safe > code.txt
        godwit keyring add 'command:pass show godwit'
        godwit keyring add passphrase recovery-code --label both
        godwit keyring new-key --output key && godwit keyring add credential:godwit --secret-file key
      """)

  @Argument(help: ArgumentHelp("What opens the slot: one secret, or two together.", valueName: "secret"))
  var secrets: [String]

  @Option(help: "What the slot is called. (default: the kinds of its secrets)")
  var label: String?

  @Option(help: ArgumentHelp("Where the credential is for now; - is the standard input.", valueName: "file"))
  var secretFile: String?

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard (1...2).contains(secrets.count) else { throw ValidationError("a slot needs one secret, or two") }
    guard secrets.count(where: { $0.hasPrefix("machine-key:") }) < 2 else {
      throw ValidationError("'--machine-key' offers one machine key, so no slot can need two")
    }
    guard secretFile == nil || secrets.count(where: { $0.hasPrefix("credential:") }) == 1 else {
      throw ValidationError("--secret-file goes with one credential:NAME")
    }
    try options.claimInput([secretFile] + secrets.filter { $0 == "passphrase:-" }.map { _ in "-" })
  }

  func run() async throws {
    let keyring = try options.existingKeyring()
    var codes: [String] = []
    let offered = try secrets.map { try secret($0, &codes) }
    let label = label ?? secrets.map { String($0.prefix { $0 != ":" }) }.joined(separator: "+")
    // Codes are shown first: a slot whose code nobody has seen is a way in that nobody has.
    let report: JSONValue = ["added": .string(label), "recoveryCodes": .array(codes.map { .string($0) })]
    if !codes.isEmpty, options.json {
      try options.console.line(report)
    } else if !codes.isEmpty {
      options.console.note("write this on paper and keep it safe; it is not shown again:")
      try options.console.lines(codes)
    }
    do {
      try await keyring.add(label: label, openedBy: offered)
    } catch let error as GodwitError where !codes.isEmpty {
      throw GodwitError(
        error.code, "\(error.message); nothing was added, and the recovery code above opens nothing", hint: error.hint,
        underlying: error)
    }
    if codes.isEmpty, options.json { try options.console.line(report) }
    options.console.note("added slot \(Format.printable(label))")
  }

  private func secret(_ text: String, _ codes: inout [String]) throws -> SlotSecret {
    let kind = String(text.prefix { $0 != ":" })
    let value = String(text.dropFirst(kind.count + 1))
    switch (kind, value) {
    case ("passphrase", ""): return .passphrase { try Self.newPassphrase() }
    case ("passphrase", let file): return .passphrase(file: OfferedSecrets.path(file))
    case ("recovery-code", ""):
      let code = ReplicaKeyring.newRecoveryCode()
      codes.append(code)
      return .recoveryCode(code)
    case ("credential", let name) where !name.isEmpty:
      return secretFile.map { .credential(named: name, file: OfferedSecrets.path($0)) } ?? .credential(named: name)
    case ("command", let command): return .command(try OfferedSecrets.command(command))
    case ("machine-key", let file) where !file.isEmpty: return .machineKey(at: file)
    case ("credential", _): throw GodwitError(.invalidArgument, "a credential has a name: credential:NAME")
    case ("machine-key", _): throw GodwitError(.invalidArgument, "a machine key has a file: machine-key:FILE")
    case ("recovery-code", _): throw GodwitError(.invalidArgument, "a recovery code is made here, and takes nothing")
    default:
      throw GodwitError(.invalidArgument, "'\(kind)' is no kind of secret", hint: "see: godwit keyring add --help")
    }
  }

  private static func newPassphrase() throws -> [UInt8] {
    let unavailable = GodwitError(
      .invalidArgument, "there is no terminal to ask for the new passphrase at",
      hint: "give a file with it: godwit keyring add passphrase:FILE; - is the standard input")
    return try TerminalPrompt.askTwice(
      "New passphrase: ", unavailable: unavailable,
      different: GodwitError(.invalidArgument, "the two passphrases differ", hint: "try again"))
  }
}
