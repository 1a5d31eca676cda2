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

  /// Documents read in one go.
  private static let pageCount = 1_000

  @Argument(help: "The collection.")
  var collection: String

  @Argument(help: "Keys of documents; all by default.")
  var keys: [String] = []

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    try await options.withReplica { replica in
      let documents = replica.documents(collection)
      if keys.isEmpty { return try await all(documents, replica) }
      for key in keys {
        guard let found = try await replica.first(documents.where { $0.documentKey == key }) else {
          throw GodwitError(.notFound, "collection \(collection) has no document \(key)")
        }
        try options.console.line(options.json ? found.line : found.json)
      }
    }
  }

  private func all(_ documents: Documents, _ replica: Replica) async throws {
    var last = ""
    while true {
      let after = last
      let page = try await replica.fetch(documents.where { $0.documentKey > after }.limit(Self.pageCount))
      try options.console.lines(page.lazy.map { options.json ? $0.line : ReservedMembers.object($0).text })
      guard let end = page.last?.key, page.count == Self.pageCount else { return }
      last = end
    }
  }
}

extension Document {
  /// Specs/cli.md, "get".
  var line: String {
    let expiry = expires.map { Format.time(milliseconds: Int64(($0.timeIntervalSince1970 * 1_000).rounded())) }
    let value: JSON = [
      "key": .string(key), "document": .object(members), "expires": expiry.map { .string($0) } ?? .null,
    ]
    return value.text
  }
}
