import ArgumentParser
import Godwit
import ToolSupport

/// What `query --collection` shows.
struct CollectionQuery {
  let collection: String
  let condition: String?
  let order: String?
  let limit: Int?
  let console: Console

  func run(on replica: Replica) async throws {
    var request = replica.documents(collection).all
    if let condition { request = request.where(condition) }
    if let order { request = request.order(by: order) }
    if let limit { request = request.limit(limit) }
    let found = try await replica.fetch(request)
    guard !found.isEmpty else { return console.note("no documents") }
    if console.usesJSON { return try console.lines(found.lazy.map(\.line)) }
    let members = Set(found.flatMap(\.members.keys)).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let alignments = members.map { member -> TextTable.Alignment in
      found.allSatisfy { $0[member].map { $0.realValue != nil } ?? true } ? .right : .left
    }
    var table = TextTable([("_key", .left)] + Array(zip(members, alignments)))
    for document in found {
      table.add([document.key] + members.map { document[$0].map(Self.cell) ?? "" })
    }
    try console.lines(table.lines)
  }

  private static func cell(_ json: JSON) -> String { json.stringValue ?? json.text }
}
