import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct TableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "table",
    abstract: "Let a table's rows travel, or stay.",
    subcommands: [TableStartSync.self, TableStopSync.self])
}

struct TableStartSync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "start-sync",
    abstract: "Make a local table travel, with the rows it has.",
    discussion: """
      Where the group has the table already, its rows stay as they are, and a row that was other here is kept in the
      conflict log.

      Examples:
        godwit table start-sync draft
        godwit table start-sync draft --as-of 2025-06-30
      """)

  @Argument(help: "The table.")
  var table: String

  @Option(help: "How old the rows are: a date, or 12h, 7d ago. By default older than anything.")
  var asOf: TimeArgument?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let table = table
    let date = asOf?.date
    let rows = try await options.withReplica { try await $0.tables.startSync(of: table, asOf: date) }
    options.console.note("table \(Format.printable(table)) is synced from now on, with \(Format.count(rows, "row"))")
    if options.json {
      try options.console.line(["table": .string(table), "synced": .bool(true), "rows": .number(rows)])
    }
  }
}

struct TableStopSync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop-sync",
    abstract: "Make a table stay here, with the rows it has.",
    discussion: """
      Nothing of it is logged or taken in from now on; what was logged before still travels. What others write to it
      waits, and nothing is forgotten while it does: so do this on all members.

      Examples:
        godwit table stop-sync draft
      """)

  @Argument(help: "The table.")
  var table: String

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let table = table
    try await options.withReplica { try await $0.tables.stopSync(of: table) }
    options.console.note("table \(Format.printable(table)) stays here from now on")
    if options.json { try options.console.line(["table": .string(table), "synced": .bool(false)]) }
  }
}
