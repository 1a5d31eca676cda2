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
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let location = options.locator.existingOrNew()
    let isNew = !location.hasKeyring
    let identity = try await Replica.identity(at: location.folder, key: location.keys)
    if options.json {
      try options.console.line([
        "identity": .string("\(identity)"), "replica": .string("\(identity.replica)"),
        "fingerprint": .string(identity.fingerprint), "ageRecipient": .string(identity.ageRecipient),
      ])
    } else {
      if isNew { options.console.note("made an identity in \(Format.printable(location.keyring))") }
      options.console.note("fingerprint \(identity.fingerprint)")
      try options.console.line("\(identity)")
    }
  }
}
