import ArgumentParser
import Godwit
import ToolSupport

/// What `query --collection` shows, from one state of the replica.
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
    // A table is as wide as what is in it, so all is read twice, and what is there is not to change between.
    let (query, all) = (self, request.atOneInstant)
    let listing = try await replica.read { reader in
      guard query.console.usesJSON else { return try query.table(all, reader) }
      return try DocumentListing(all, of: reader, to: query.console) { query.console.document($0.line) }
    }
    guard let listing else { return console.note(try await replica.emptiness(ofCollection: collection)) }
    try await listing.show(on: console)
  }

  private func table(_ request: DocumentRequest<Document>, _ reader: Reader) throws -> DocumentListing? {
    var columns = TableColumns()
    var isEmpty = true
    try reader.forEach(request) { document in
      isEmpty = false
      columns.measure(document)
    }
    guard !isEmpty else { return nil }
    let lines = columns.lines
    return try DocumentListing(request, of: reader, to: console, heading: lines.heading, lines.line)
  }
}

/// The columns of a table of documents, while they are measured.
private struct TableColumns {
  private var keyWidth = TextTable.displayWidth("_key")
  private var members: [String: (width: Int, isNumber: Bool)] = [:]

  mutating func measure(_ document: Document) {
    keyWidth = max(keyWidth, TextTable.displayWidth(Format.printable(document.key)))
    for (name, value) in document.members {
      let known = members[name] ?? (TextTable.displayWidth(Format.printable(name)), true)
      let width = TextTable.displayWidth(Self.cell(value))
      members[name] = (max(known.width, width), known.isNumber && value.realValue != nil)
    }
  }

  /// The lines of a table that is measured.
  struct Lines {
    let names: [String]
    let widths: [Int]
    let alignments: [TextTable.Alignment]

    var heading: String {
      TextTable.line(["_key"] + names.map(Format.printable), widths: widths, alignments)
    }

    func line(_ document: Document) -> String {
      let cells = names.map { document[$0].map(TableColumns.cell) ?? "" }
      return TextTable.line([Format.printable(document.key)] + cells, widths: widths, alignments)
    }
  }

  var lines: Lines {
    let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return Lines(
      names: sorted.map(\.key), widths: [keyWidth] + sorted.map(\.value.width),
      alignments: [.left] + sorted.map { $0.value.isNumber ? .right : .left })
  }

  static func cell(_ json: JSON) -> String { Format.printable(json.stringValue ?? json.text) }
}
