import ArgumentParser
import Godwit
import ToolSupport

struct LogShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one transaction with all it wrote.",
    discussion: """
      Examples:
        godwit log show laptop 7
        godwit log show laptop/3981a9a7 7
        godwit log show laptop 7 --json | jq '.operations[].key'
      """)

  @Argument(help: "The member that wrote it: its name, its ID or the first digits of that; /INCARNATION behind it.")
  var origin: String

  @Argument(help: "Its sequence number.")
  var sequence: UInt64

  @Option(
    help: ArgumentHelp("The member's incarnation, when several have this number: 8 digits.", valueName: "digits"))
  var incarnation: Incarnation.ID?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (transaction, names) = try await options.withReplica { replica in
      let names = ReplicaNames(try await replica.members.list())
      let (member, named) = try await author(on: replica)
      let found = try await replica.history.transaction(sequence, of: member, incarnation: incarnation ?? named)
      return (found, names)
    }
    try await options.json
      ? options.console.line(transaction.json(names))
      : options.console.pages(transaction.lines(names).lazy.map(Format.printable))
  }
}

extension LogShow {
  /// The member, and the incarnation where one stands behind its name, as the log lists it.
  private func author(on replica: Replica) async throws -> (ReplicaID, Incarnation.ID?) {
    let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last, let named = Incarnation.ID(argument: String(last)) else {
      return (try await replica.replicaID(named: origin), nil)
    }
    return (try await replica.replicaID(named: parts.dropLast().joined(separator: "/")), named)
  }
}

extension LoggedTransaction {
  func lines(_ names: ReplicaNames) -> [String] {
    let seen = seen.map { "\(names.name($0.replica)) \($0.sequence)" }.joined(separator: ", ")
    let head = [
      "transaction  \(entry.sequence) of \(names.name(entry.replica)) (\(entry.replica), incarnation \(entry.incarnation))",
      "time         \(Format.time(milliseconds: entry.milliseconds))",
      "seen         \(seen.isEmpty ? "nothing" : seen)",
      "schema       \(schemaVersion)",
    ]
    return head + operations.flatMap(\.lines)
  }

  /// Specs/cli.md, "log show".
  func json(_ names: ReplicaNames) -> JSONValue {
    .object(
      entry.members(names) + [
        ("schemaVersion", .number(schemaVersion)),
        ("seen", .array(seen.map { .object(names.json($0.replica) + [("sequence", .number($0.sequence))]) })),
        ("operations", .array(operations.map(\.json))),
      ])
  }
}

extension LoggedTransaction.Operation {
  /// `update note k`, then a line for each cell: `  title = x`, `  views += 3`, `  tags: +"a" -"b"`.
  fileprivate var lines: [String] {
    ["\(kind.rawValue) \(table) \(Format.values(key))"]
      + cells.map { cell in
        guard cell.isRelative else { return "  \(cell.column) = \(Format.value(cell.value))" }
        guard case .text(let change) = cell.value else { return "  \(cell.column) += \(Format.value(cell.value))" }
        return "  \(cell.column): \(change.split(separator: "\n").joined(separator: " "))"
      }
  }

  fileprivate var json: JSONValue {
    [
      "kind": .string(kind.rawValue), "table": .string(table), "key": .array(key.map { JSONValue($0) }),
      "cells": .array(
        cells.map {
          ["column": .string($0.column), "value": JSONValue($0.value), "relative": .bool($0.isRelative)]
        }),
    ]
  }
}
