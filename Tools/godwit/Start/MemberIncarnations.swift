import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct MemberIncarnations: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "incarnations",
    abstract: "List the lives of the members' databases.",
    discussion: """
      A copy of a database and a restored backup take a new incarnation by themselves. The earlier one may live on
      elsewhere, so the others keep for it what it may lack, until it is said to have ended.

      Examples:
        godwit member incarnations
        godwit member incarnations laptop --json
      """)

  @Argument(help: "What the member is called, its replica ID, or the first digits of that; all of them by default.")
  var name: String?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let name = name
    let (found, names) = try await options.withReplica { replica in
      (try await replica.members.incarnations(of: name), ReplicaNames(try await replica.members.list()))
    }
    guard !options.json else { return try options.console.lines(found.map { $0.json(names).text }) }
    var table = TextTable([
      ("NAME", .left), ("INCARNATION", .left), ("STATE", .left), ("TRANSACTIONS", .right), ("LAST STATED", .left),
    ])
    for incarnation in found {
      let state = incarnation.isOwn ? "this replica" : incarnation.hasEnded ? "ended" : "may live"
      table.add([
        names.name(incarnation.replica), "\(incarnation.id)", state, "\(incarnation.transactions)",
        incarnation.statedText ?? "",
      ])
    }
    try options.console.lines(table.lines)
  }
}

struct MemberEnd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "end",
    abstract: "Say that an incarnation of a member writes no more.",
    discussion: """
      For a database that was restored from a backup, or moved to another machine as a copy: nothing is kept any more
      for the one that is gone. Should it live on after all, it takes a new incarnation when it learns of this.

      Examples:
        godwit member end laptop 6f12a9c0
      """)

  @Argument(help: "What the member is called, its replica ID, or the first digits of that.")
  var name: String

  @Argument(help: "The incarnation, as member incarnations lists it.")
  var incarnation: Incarnation.ID

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (name, incarnation) = (name, incarnation)
    try await options.withReplica { try await $0.members.end(incarnation, of: name) }
    options.console.note("ended \(incarnation) of \(Format.printable(name))")
    if options.json { try options.console.line(["ended": .string("\(incarnation)"), "name": .string(name)]) }
  }
}

extension Incarnation {
  var statedText: String? {
    lastStated.map { Format.time($0) }
  }

  /// Specs/cli.md, "member incarnations".
  func json(_ names: ReplicaNames) -> JSONValue {
    .object(
      names.json(replica) + [
        ("incarnation", .string("\(id)")), ("own", .bool(isOwn)), ("ended", .bool(hasEnded)),
        ("transactions", .number(transactions)), ("stated", statedText.map(JSONValue.string) ?? .null),
      ])
  }
}

extension Incarnation.ID: ExpressibleByArgument {}
