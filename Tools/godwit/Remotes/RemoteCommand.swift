import ArgumentParser
import Godwit
import ToolSupport

struct RemoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract: "Name the places that keep sync files for the group: folders, ssh hosts and buckets.",
    discussion: """
      Examples:
        godwit remote add home /media/stick/godwit && godwit sync
        godwit remote add store 's3://bucket/notes?endpoint=https://s3.example.org&region=eu-1'
      """,
    subcommands: [RemoteAdd.self, RemoteList.self, RemoteRemove.self, RemoteTestCommand.self])
}

struct RemoteAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a remote, and mark the place as this group's.",
    discussion: """
      URL is a folder's path, and it is made where the folder above it is there; ssh://[USER@]HOST[:PORT]/PATH with a replica's path over there; unix:///SOCKET \
      of godwit serve --socket; or \
      s3://BUCKET/PREFIX?endpoint=URL&region=NAME, which without endpoint is AWS. It is kept and shown, so it holds no secret: keys are read from AWS_ACCESS_KEY_ID and \
      AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials and ~/.aws/config (AWS_PROFILE), whenever they are needed.
      """)

  @Argument(help: "What this replica is to call it.")
  var name: String

  @Argument(help: "Where it is.")
  var url: String

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let remote = try await options.withReplica { try await $0.remotes.add(name, at: url) }
    if options.json { return try options.console.line(remote.json) }
    options.console.note("added \(remote.name) at \(Format.printable(remote.url)); next: godwit sync")
  }
}

struct RemoteList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the remotes, when they were last synced, and what is wrong with them.")

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let remotes = try await options.withReplica { try await $0.remotes.list() }
    if options.json { return try options.console.lines(remotes.map(\.json.text)) }
    var table = TextTable([("NAME", .left), ("SYNCED", .left), ("STATE", .left), ("URL", .left)])
    for remote in remotes {
      table.add([remote.name, remote.synced, remote.state, Format.printable(remote.url)])
    }
    try options.console.lines(table.lines)
  }
}

struct RemoteRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Forget a remote. What lies there stays.")

  @Argument(help: "The remote.")
  var name: String

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    try await options.withReplica { try await $0.remotes.remove(name) }
    if options.json { return try options.console.line(["removed": .string(name)]) }
    options.console.note("removed \(Format.printable(name)); its files stay where they are")
  }
}

struct RemoteTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Write, list, read and delete a file of a few bytes at a remote.")

  @Argument(help: "The remote.")
  var name: String

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let test = try await options.withReplica { try await $0.remotes.test(name) }
    if options.json {
      return try options.console.line([
        "remote": .string(name), "honoursConditions": test.honoursConditions.map { .bool($0) } ?? .null,
      ])
    }
    let conditions =
      switch test.honoursConditions {
      case true?: "; it keeps files from being replaced where that is asked for"
      case false?: "; it ignores If-None-Match, which nothing here depends on"
      case nil: ""
      }
    options.console.note("\(name) can be written, listed, read and deleted from\(conditions)")
  }
}
