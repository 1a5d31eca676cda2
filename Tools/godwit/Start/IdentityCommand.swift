import ArgumentParser
import Godwit
import ToolSupport

struct IdentityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Print this machine's identity, for a member to invite.",
    discussion: """
      Makes an identity, with its keyring, when there is none yet. It holds no secret, but compare its fingerprint
      over a second channel.

      Examples:
        godwit identity > laptop.identity
        godwit identity --post-quantum > laptop.identity
      """)

  @Flag(help: "Make it for a post-quantum group, whose files are sealed to hybrid keys (ML-KEM-768 with X25519).")
  var postQuantum = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let location = options.locator.existingOrNew()
    let isNew = !location.hasKeyring
    let identity = try await Replica.identity(at: location.folder, key: location.keys, postQuantum: postQuantum)
    if options.json {
      try options.console.line([
        "identity": .string("\(identity)"), "replica": .string("\(identity.replica)"),
        "fingerprint": .string(identity.fingerprint), "ageRecipient": .string(identity.ageRecipient),
        "postQuantum": .bool(identity.isPostQuantum),
      ])
    } else {
      if isNew { options.console.note("made an identity in \(Format.printable(location.keyring))") }
      options.console.note("fingerprint \(identity.fingerprint)")
      try options.console.line("\(identity)")
    }
  }
}
