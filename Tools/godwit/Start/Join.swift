import ArgumentParser
import Godwit
import ToolSupport

struct Join: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Join the group of an invitation made for this machine's identity.",
    discussion: """
      An invitation says itself who made it. Compare the inviter's fingerprint with what godwit identity says on the
      inviter's machine: aloud, or over a connection that you trust.

      Examples:
        godwit join laptop.godwit-invitation
        godwit join laptop.godwit-invitation --fingerprint cd78-1097-abf4-45d5-08e1
        ssh desk cat laptop.godwit-invitation | godwit join - --fingerprint "$(ssh desk godwit identity --fingerprint)"
      """)

  @Argument(help: "The invitation, or - for the standard input.")
  var invitation: String

  @OptionGroup var verification: VerificationArguments

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let location = try options.locator.existingOrNew()
    guard location.hasKeyring || location.hasDatabase else {
      throw GodwitError(
        .missingKeyring, "there is no identity in \(location.folder) to join with",
        hint: "run: godwit identity, and have a member make an invitation for what it prints")
    }
    let source = try SyncSource(argument: invitation)
    let replica = try await Replica.join(
      at: location.folder, invitation: source, inviter: verification.verification(of: "who made the invitation"),
      key: location.keys)
    let members = try await replica.closing { try await $0.members.list() }
    let own = members.first(where: \.isOwn)?.name ?? ""
    if options.json {
      try options.console.line([
        "path": .string(replica.path), "replica": .string("\(replica.identity.replica)"),
        "group": .string("\(replica.group)"), "name": .string(own),
      ])
    } else {
      let others = members.filter { $0.isActive && !$0.isOwn }.map(\.name).sorted().joined(separator: ", ")
      options.console.note("joined as \(Format.printable(own)), with \(Format.printable(others))")
      options.console.note("next, import a file from one of them: godwit import FILE")
    }
  }
}
