import ArgumentParser
import Godwit
import ToolSupport

struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Delete documents of a collection.",
    discussion: """
      Examples:
        godwit rm accounts ada bob
        godwit rm sessions --where "seen < '2026-01-01'"
        godwit rm sessions --all
      """)

  @Argument(help: "The collection.")
  var collection: String

  @Argument(help: "Keys of documents.")
  var keys: [String] = []

  @Option(name: .customLong("where"), help: ArgumentHelp("Delete what meets this condition.", valueName: "condition"))
  var condition: String?

  @Flag(help: "Delete the whole collection.")
  var all = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard [!keys.isEmpty, condition != nil, all].count(where: { $0 }) == 1 else {
      throw ValidationError("name documents by their keys, by --where, or with --all")
    }
  }

  func run() async throws {
    let (count, hint) = try await WriteError.wrapping {
      try await options.withReplica { replica in
        let count = try await remove(replica)
        return (count, count > 0 ? nil : try await replica.hint(onCollection: collection))
      }
    }
    if !keys.isEmpty, count == 0 {
      throw GodwitError(.notFound, "collection \(collection) has none of these documents", hint: hint)
    }
    if options.json {
      try options.console.line(["collection": .string(collection), "deleted": .number(count)])
    } else {
      let lacking = keys.count - count
      let missing = keys.isEmpty || lacking == 0 ? nil : "under \(Format.count(lacking, "key")) was none"
      let more = (hint ?? missing).map { "; \($0)" } ?? ""
      options.console.note("\(Format.count(count, "document")) deleted\(more)")
    }
  }

  private func remove(_ replica: Replica) async throws -> Int {
    let documents = replica.documents(collection)
    if let condition { return try await documents.delete(documents.where(condition)) }
    guard all else {
      return try await replica.write { [keys] tx in try keys.count { try documents.in(tx).delete($0) } }
    }
    let count = try await documents.count()
    try await documents.drop()
    return count
  }
}
