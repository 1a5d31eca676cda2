import ArgumentParser
import Godwit
import ToolSupport

struct Get: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print JSON documents of a collection.",
    discussion: """
      One document a line. Without keys all of them, each with its key as the member _key and, if it has one, its \
      expiry as _expires, as put reads it.

      Examples:
        godwit get accounts ada
        godwit get accounts > accounts.jsonl
      """)

  @Argument(help: "The collection.")
  var collection: String

  @Argument(help: "Keys of documents; all by default.")
  var keys: [String] = []

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    try await options.withReplica { replica in
      let documents = replica.documents(collection)
      if keys.isEmpty { return try await all(documents, replica) }
      let found = try await replica.read { [keys] reader in
        try keys.map { key in (key, try reader.first(documents.where { $0.documentKey == key })) }
      }
      if let (key, _) = found.first(where: { $1 == nil }) {
        let hint = try await replica.hint(onCollection: collection)
        throw GodwitError(.notFound, "collection \(collection) has no document \(key)", hint: hint)
      }
      for case let document? in found.map(\.1) {
        try options.console.line(options.console.document(options.json ? document.line : document.json))
      }
    }
  }

  private func all(_ documents: Documents, _ replica: Replica) async throws {
    let console = options.console
    let listing = try await replica.read { reader in
      try DocumentListing(documents.all, of: reader, to: console) { document in
        console.document(console.usesJSON ? document.line : ReservedMembers.object(document).text)
      }
    }
    if listing.isEmpty { console.note(try await replica.emptiness(ofCollection: collection)) }
    try await listing.show(on: console)
  }
}

extension Document {
  /// Specs/cli.md, "get".
  var line: String {
    let value: JSON = ["key": .string(key), "document": .object(members), "expires": expires?.shown ?? .null]
    return value.text
  }
}
