import ArgumentParser
import Godwit
import ToolSupport

struct IdentityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Print this machine's identity, for a member to invite, or replace it.",
    discussion: """
      Examples:
        godwit identity > laptop.identity
        godwit identity --fingerprint
        godwit identity rotate
        godwit identity export-age-key identity.txt
      """,
    subcommands: [IdentityShow.self, IdentityRotate.self, IdentityExportAgeKey.self],
    defaultSubcommand: IdentityShow.self)
}

struct IdentityShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print this machine's identity, for a member to invite.",
    discussion: """
      Makes an identity, with its keyring, when there is none yet. It holds no secret, but who invites it should compare
      its fingerprint over a second way.

      Examples:
        godwit identity > laptop.identity
        godwit identity --post-quantum > laptop.identity
        godwit identity --fingerprint
      """)

  @Flag(help: "Make it for a post-quantum group, whose files are sealed to hybrid keys (ML-KEM-768 with X25519).")
  var postQuantum = false

  @Flag(help: "Print only the fingerprint.")
  var fingerprint = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let location = try options.locator.existingOrNew()
    let isNew = !location.hasKeyring
    let identity = try await Replica.identity(at: location.folder, key: location.keys, postQuantum: postQuantum)
    guard !options.json else { return try options.console.line(identity.json) }
    if isNew { options.console.note("made an identity in \(Format.printable(location.keyring))") }
    guard !fingerprint else { return try options.console.line(identity.fingerprint) }
    options.console.note(identity.fingerprintLine)
    try options.console.line("\(identity)")
  }
}

struct IdentityRotate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replace this replica's keys by new ones, announced to the group.",
    discussion: """
      Old keys and new sign the change, so the others believe it with the next sync file, and nobody compares
      fingerprints again. Old files still open here. Copies and backups from before hold keys that are given up: make a
      new backup.
      When somebody may have the old keys, remove the member in place of this, and join anew.

      Examples:
        godwit identity rotate
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let identity = try await options.withReplica { try await $0.members.rotateIdentity() }
    guard !options.json else { return try options.console.line(identity.json) }
    options.console.note("the others learn of it with the next file: godwit export FILE")
    options.console.note(identity.fingerprintLine)
    try options.console.line("\(identity)")
  }
}

extension PublicIdentity {
  /// Specs/cli.md, "identity".
  fileprivate var json: JSONValue {
    [
      "identity": .string("\(self)"), "replica": .string("\(replica)"), "fingerprint": .string(fingerprint),
      "words": .string(fingerprintWords), "ageRecipient": .string(ageRecipient), "postQuantum": .bool(isPostQuantum),
    ]
  }
}
