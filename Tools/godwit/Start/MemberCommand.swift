import ArgumentParser
import Godwit
import ToolSupport

struct MemberCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "member",
    abstract: "Add, list, rename and remove the group's members, and show their incarnations.",
    subcommands: [
      MemberAdd.self, MemberList.self, MemberLog.self, MemberRename.self, MemberRemove.self, MemberIncarnations.self,
      MemberEnd.self,
    ])
}

struct MemberList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the members, those that were removed included.",
    discussion: """
      Examples:
        godwit member list
        godwit member list --json
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let members = try await options.withReplica { try await $0.members.list() }
    guard !options.json else { return try options.console.lines(members.map { $0.json.text }) }
    var table = TextTable([("NAME", .left), ("STATE", .left), ("REPLICA", .left), ("FINGERPRINT", .left)])
    for member in members {
      let state = member.isOwn ? "this replica" : member.isActive ? "active" : "removed"
      table.add([member.name, state, "\(member.identity.replica)", member.identity.fingerprint])
    }
    try options.console.lines(table.lines)
  }
}

struct MemberRename: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give a member another name, this replica too.",
    discussion: """
      The others learn of it with the next sync file. Of two names given at the same time the later stays.

      Examples:
        godwit member rename laptop attic
      """)

  @Argument(help: "What the member is called, its replica ID, or the first digits of that.")
  var name: String

  @Argument(help: "What it is to be called.")
  var newName: String

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard !newName.isEmpty else { throw ValidationError("the new name is empty") }
  }

  func run() async throws {
    try await options.withReplica { try await $0.members.rename(name, to: newName) }
    options.console.note("\(Format.printable(name)) is called \(Format.printable(newName)) now")
    if options.json { try options.console.line(["renamed": .string(name), "name": .string(newName)]) }
  }
}

struct MemberRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a member: no later file is sealed to it or accepted from it.",
    discussion: """
      The others learn of it with the next sync file. What the member holds already it keeps.

      Examples:
        godwit member remove laptop
      """)

  @Argument(help: "What the member is called, its replica ID, or the first digits of that.")
  var name: String

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let remotes = try await options.withReplica { replica in
      try await replica.members.remove(name)
      return try await replica.remotes.list()
    }
    options.console.note("removed \(Format.printable(name))")
    for remote in remotes { options.console.note(Self.revocation(of: remote)) }
    guard options.json else { return }
    let revoke = remotes.map { JSONValue.object([("name", .string($0.name)), ("url", .string($0.url))]) }
    try options.console.line(["removed": .string(name), "revoke": .array(revoke)])
  }

  /// What is left to do at a remote, whose files the removed member may still reach, sealed as they are.
  private static func revocation(of remote: Replica.Remote) -> String {
    let place = "\(remote.name): \(Format.printable(remote.url))"
    switch remote.url.prefix(while: { $0 != ":" }) {
    case "s3": return "revoke its keys to the store of \(place)"
    case "ssh": return "take its key out of authorized_keys on the host of \(place)"
    default: return "see whether it may still reach \(place)"
    }
  }
}
