import ArgumentParser
import Godwit
import ToolSupport

struct KeyringCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyring",
    abstract: "List, add, remove and test the slots that open the keyring.",
    discussion: """
      Each slot opens the keyring by itself: the machine key file, a passphrase, a systemd credential, a program that
      prints a secret, a recovery code on paper, or two of these together.
      """,
    subcommands: [
      KeyringList.self, KeyringAdd.self, KeyringRemove.self, KeyringTest.self, KeyringRotate.self, KeyringAccept.self,
      KeyringNewKey.self,
    ])
}

extension ReplicaOptions {
  /// The keyring of the replica that is there already.
  func existingKeyring() throws -> ReplicaKeyring {
    let location = try locator.existing()
    return ReplicaKeyring(at: location.folder, key: location.keys)
  }
}

struct KeyringList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keyring's slots; needs no key.",
    discussion: """
      Examples:
        godwit keyring list
        godwit keyring list --json
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let slots = try await options.existingKeyring().slots()
    guard !options.json else { return try options.console.lines(slots.map { $0.json.text }) }
    var table = TextTable([("NUMBER", .right), ("LABEL", .left), ("OPENS WITH", .left), ("ADDED", .left)])
    for slot in slots { table.add(["\(slot.number)", slot.label, slot.needs, slot.added]) }
    try options.console.lines(table.lines)
  }
}

struct KeyringTest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Try the slots with the keys at hand; exit with 12 when none opens, or not the one named.",
    discussion: """
      Passphrases and recovery codes that no option names are asked for at the terminal.

      Examples:
        godwit keyring test
        godwit keyring test paper
      """)

  @Argument(help: "The label or number of the one slot that must open.")
  var slot: String?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let results = try await options.existingKeyring().test().filter { slot == nil || $0.slot.isNamed(slot) }
    guard !results.isEmpty else {
      throw GodwitError(.notFound, "there is no slot called \(slot ?? "")", hint: "see: godwit keyring list")
    }
    if options.json {
      try options.console.lines(
        results.map { JSONValue.object($0.slot.members + [("result", .string($0.result.name))]).text })
    } else {
      var table = TextTable([("NUMBER", .right), ("LABEL", .left), ("OPENS WITH", .left), ("RESULT", .left)])
      for (slot, result) in results { table.add(["\(slot.number)", slot.label, slot.needs, result.text]) }
      try options.console.lines(table.lines)
    }
    guard results.contains(where: { $0.result == .opens }) else { throw ExitCode(ExitStatus.noKeyFits) }
  }
}

extension SlotDescription {
  func isNamed(_ name: String?) -> Bool { label == name || "\(number)" == name }

  var added: String {
    addedAtMilliseconds.flatMap { $0 == 0 ? nil : Format.time(milliseconds: $0) } ?? "-"
  }

  /// Specs/cli.md, "keyring list".
  var members: [(String, JSONValue)] {
    [
      ("number", .number(number)), ("label", .string(label)), ("factors", .array(factors.map { .string($0) })),
      ("credential", credential.map { .string($0) } ?? .null),
      ("added", addedAtMilliseconds.flatMap { $0 == 0 ? nil : .string(Format.time(milliseconds: $0)) } ?? .null),
    ]
  }

  var json: JSONValue { .object(members) }
}

extension SlotDescription.Test {
  fileprivate var name: String {
    switch self {
    case .opens: "opens"
    case .doesNotFit: "doesNotFit"
    case .notTried: "notTried"
    case .unknown: "unknown"
    }
  }

  fileprivate var text: String {
    switch self {
    case .opens: "opens"
    case .doesNotFit: "does not fit"
    case .notTried(let reason): "not tried\(reason.map { ": \($0)" } ?? "")"
    case .unknown: "unknown here, kept"
    }
  }
}
