import ArgumentParser
import Godwit
import ToolSupport

/// What `query --collection` shows, read page by page from one state of the replica.
struct CollectionQuery {
  let collection: String
  let condition: String?
  let order: String?
  let limit: Int?
  let console: Console

  /// Documents in memory at a time.
  private static let pageCount = 1_000

  func run(on replica: Replica) async throws {
    var request = replica.documents(collection).all
    if let condition { request = request.where(condition) }
    if let order { request = request.order(by: order) }
    let (query, all) = (self, request)
    let count = try await replica.read { snapshot in
      query.console.usesJSON ? try query.lines(all, snapshot) : try query.table(all, snapshot)
    }
    if count == 0 { console.note("no documents") }
  }

  private func lines(_ request: DocumentRequest<Document>, _ snapshot: Snapshot) throws -> Int {
    try forEachPage(of: request, snapshot) { try console.lines($0.lazy.map(\.line)) }
  }

  /// A table is as wide as what is in it, so all is read twice.
  private func table(_ request: DocumentRequest<Document>, _ snapshot: Snapshot) throws -> Int {
    var columns = TableColumns()
    let count = try forEachPage(of: request, snapshot) { for document in $0 { columns.measure(document) } }
    guard count > 0 else { return 0 }
    let lines = columns.lines
    try console.line(lines.heading)
    return try forEachPage(of: request, snapshot) { page in try console.lines(page.lazy.map(lines.line)) }
  }

  /// Calls the body with some documents after others, and returns how many there are.
  private func forEachPage(
    of request: DocumentRequest<Document>, _ snapshot: Snapshot, _ body: ([Document]) throws -> Void
  ) throws -> Int {
    var count = 0
    var last: String?
    while true {
      try Task.checkCancellation()
      let wanted = min(Self.pageCount, limit.map { $0 - count } ?? .max)
      guard wanted > 0 else { return count }
      var rest = request.limit(wanted)
      if order != nil {
        rest = rest.offset(count)
      } else if let last {
        rest = rest.where { $0.documentKey > last }
      }
      let page = try snapshot.fetch(rest)
      if !page.isEmpty { try body(page) }
      count += page.count
      last = page.last?.key
      guard page.count == wanted else { return count }
    }
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
