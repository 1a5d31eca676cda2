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
      let isHelp = argument == "help" && names.count == 1
      guard !argument.hasPrefix("-"), !isHelp else { break }
      let subcommands = command.configuration.subcommands
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

  /// Whether notes and warnings are left out: `--quiet`, or `--json`.
  var isForPrograms: Bool {
    let options = arguments.prefix { $0 != "--" }
    return options.contains { Self.flags.contains($0) }
  }

  /// The nearest subcommand to what was typed, unless it has little to do with it.
  var suggestion: String? {
    guard let unknown else { return nil }
    let nearest = candidates.min { Self.distance(unknown, $0) < Self.distance(unknown, $1) }
    return nearest.flatMap { Self.distance(unknown, $0) <= max(1, $0.count / 2) ? $0 : nil }
  }

  /// How many arguments a common option takes together with its value; nil for anything else.
  private static func commonOptionLength(_ argument: String) -> Int? {
    if flags.contains(argument) { return 1 }
    if valueOptions.contains(argument) { return 2 }
    let hasJoinedValue = argument.hasPrefix("-C") || valueOptions.contains { argument.hasPrefix("\($0)=") }
    return hasJoinedValue ? 1 : nil
  }

  /// Levenshtein's distance, where two neighbours swapped count once (optimal string alignment).
  static func distance(_ left: String, _ right: String) -> Int {
    let a = Array(left.lowercased().unicodeScalars)
    let b = Array(right.lowercased().unicodeScalars)
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var rows = [Array(0...b.count)]
    for i in 1...a.count {
      var row = [i]
      for j in 1...b.count {
        let cost = a[i - 1] == b[j - 1] ? 0 : 1
        var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
