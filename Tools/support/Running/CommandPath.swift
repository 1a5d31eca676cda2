import ArgumentParser

/// The arguments with the common options moved behind the subcommand, so that `godwit -C notes export -` means
/// `godwit export -C notes -`, and with misspelt subcommands found out.
struct CommandPath {
  private static let valueOptions = [
    "-C", "--keyring", "--machine-key", "--passphrase-file", "--recovery-code-file", "--credential", "--key-command",
  ]
  private static let flags = ["-q", "--quiet", "--json"]

  /// The arguments for the parser.
  private(set) var arguments: [String] = []
  /// The command and the subcommands that were recognised.
  private(set) var names: [String]
  /// What stands where a subcommand should.
  private(set) var unknown: String?
  /// The subcommands that could stand there.
  private(set) var candidates: [String] = []
  /// Whether help on something is asked for by `help`.
  private(set) var isHelp = false

  init(_ arguments: [String], root: any ParsableCommand.Type) {
    names = [root._commandName]
    var rest = arguments[...]
    var moved: [String] = []
    var command = root
    while let argument = rest.first, !command.configuration.subcommands.isEmpty {
      if let count = Self.commonOptionLength(argument) {
        moved += rest.prefix(count)
        rest = rest.dropFirst(count)
        continue
      }
      let subcommands = command.configuration.subcommands
      isHelp = argument == "help" && names.count == 1
      if isHelp { findHelp(Array(rest.dropFirst()), subcommands.map { $0._commandName }, of: root) }
      guard !argument.hasPrefix("-"), !isHelp else { break }
      guard let next = subcommands.first(where: { $0._commandName == argument }) else {
        unknown = argument
        candidates = subcommands.map { $0._commandName }
        break
      }
      names.append(argument)
      rest = rest.dropFirst()
      command = next
    }
    let asksForHelp = rest.first.map { ["-h", "--help"].contains($0) } ?? false
    if unknown == nil, !asksForHelp, let usual = command.configuration.defaultSubcommand {
      names.append(usual._commandName)
      command = usual
    }
    // Without a subcommand there is nothing to take the options, only help to be shown.
    if !command.configuration.subcommands.isEmpty { moved = [] }
    self.arguments = Array(names.dropFirst()) + moved + Array(rest)
  }

  /// Finds out whether there is help on what is named behind `help`.
  private mutating func findHelp(_ named: [String], _ subcommands: [String], of root: any ParsableCommand.Type) {
    let topics = (root as? any HelpTopics.Type)?.topics.map(\.name) ?? []
    let known = subcommands + topics + ["help"]
    guard let name = named.first, !name.hasPrefix("-"), !known.contains(name) else { return }
    unknown = name
    candidates = subcommands + topics
  }

  /// Whether notes and warnings are left out: `--quiet`, or `--json`.
  var isForPrograms: Bool {
    let options = arguments.prefix { $0 != "--" }
    return options.contains { Self.flags.contains($0) }
  }

  /// The nearest subcommand to what was typed, unless it has little to do with it.
  var suggestion: String? {
    guard let unknown else { return nil }
    return Misspelling(unknown).nearest(of: candidates)
  }

  /// How many arguments a common option takes together with its value; nil for anything else.
  private static func commonOptionLength(_ argument: String) -> Int? {
    if flags.contains(argument) { return 1 }
    if valueOptions.contains(argument) { return 2 }
    let hasJoinedValue = argument.hasPrefix("-C") || valueOptions.contains { argument.hasPrefix("\($0)=") }
    return hasJoinedValue ? 1 : nil
  }
}
