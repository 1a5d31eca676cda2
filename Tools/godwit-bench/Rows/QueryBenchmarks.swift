import Foundation
import Godwit
import GodwitStorage

/// What finding rows through models costs: one by one by key, along with what belongs to them, and writing a query as
/// SQL.
let queryBenchmarks = [
  Benchmark(
    group: "models", name: "fetch by key", baseline: "one prepared statement, bound and reset", budget: 1.5
  ) { context in
    let replica = try await openReplica(context, "model-key")
    let bare = try BareDatabase("\(context.folder)/bare-key", keyHex: String(repeating: "5a", count: 32))
    try bare.configureAsGodwit()
    let rows = LocalRow.make(context.rowCount)
    try await insert(rows, into: replica, batch: 1_000)
    try bare.insert(bareRows(rows), batch: 1_000)
    var generator = SplitMix64(state: 7)
    let keys = rows.map(\.id).shuffled(using: &generator)
    let bareKeys = keys.map { BareDatabase.Key($0) }
    return Benchmark.Sides(
      subject: {
        let found = try await replica.read { reader in
          var rows: [LocalRow] = []
          rows.reserveCapacity(keys.count)
          for key in keys {
            if let row = try reader.fetch(LocalRow.self, key: key) { rows.append(row) }
          }
          return rows
        }
        try expect(found.count, keys.count)
      },
      baseline: { try expect(try await BlockingThread.run { try bare.fetch(bareKeys).count }, keys.count) },
      finish: { await replica.close() }, units: keys.count)
  },
  Benchmark(
    group: "models", name: "eager load, 20 children a parent", baseline: "two statements, grouped by hand", budget: 2.0
  ) { context in
    let parents = context.rowCount / 100
    let replica = try await Replica.open(at: "\(context.folder)/model-eager", models: Folder.self, Note.self)
    let bare = try BareDatabase("\(context.folder)/bare-eager", keyHex: String(repeating: "5a", count: 32))
    try bare.configureAsGodwit()
    try bare.createFolders()
    let (folders, notes) = Folder.make(parents, notesEach: 20)
    try await replica.write { transaction in
      for folder in folders { try transaction.insert(folder) }
      for note in notes { try transaction.insert(note) }
    }
    try bare.insert(folders.map { .init(id: .init($0.id), name: $0.name) }, notes.map { .init($0) })
    return Benchmark.Sides(
      subject: {
        let found = try await replica.fetch(Folder.all.including(HasMany(\Note.folder)))
        try expect(found.reduce(0) { $0 + $1.1.count }, notes.count)
      },
      baseline: {
        let found = try await BlockingThread.run { try bare.foldersWithNotes() }
        try expect(found.reduce(0) { $0 + $1.1.count }, notes.count)
      }, finish: { await replica.close() }, units: parents + notes.count)
  },
  Benchmark(group: "models", name: "predicate of three conditions to SQL", baseline: byHand, budget: 18) { context in
    let queries = context.rowCount / 10
    return Benchmark.Sides(
      subject: {
        var length = 0
        for number in 0..<queries {
          let since = Date(timeIntervalSinceReferenceDate: Double(number))
          let query = LocalRow.where(
            #Predicate { $0.views > number && $0.created >= since && $0.title.starts(with: "note") }
          ).order(by: \.created, .descending).limit(20)
          length += try query.sql.values.count
        }
        try expect(length, queries * 6)
      }, baseline: { try writeByHand(queries) }, units: queries)
  },
  Benchmark(group: "models", name: "kept query to SQL", baseline: byHand, budget: 0.2) { context in
    let queries = context.rowCount / 10
    let since = Date(timeIntervalSinceReferenceDate: Double(7))
    let query = LocalRow.where { $0.views > 7 && $0.created >= since && $0.title.hasPrefix("note") }
      .order(by: \.created, .descending).limit(20)
    return Benchmark.Sides(
      subject: {
        var length = 0
        for _ in 0..<queries { length += try query.sql.values.count }
        try expect(length, queries * 6)
      }, baseline: { try writeByHand(queries) }, units: queries)
  },
  Benchmark(group: "models", name: "query of three conditions to SQL", baseline: byHand, budget: 12) { context in
    let queries = context.rowCount / 10
    return Benchmark.Sides(
      subject: {
        var length = 0
        for number in 0..<queries {
          let since = Date(timeIntervalSinceReferenceDate: Double(number))
          let query = LocalRow.where { $0.views > number && $0.created >= since && $0.title.hasPrefix("note") }
            .order(by: \.created, .descending).limit(20)
          length += try query.sql.values.count
        }
        try expect(length, queries * 6)
      }, baseline: { try writeByHand(queries) }, units: queries)
  },
]

private let byHand = "the string put together by hand"

/// Puts the text of the query of three conditions together for each of so many, and its values in an array.
private func writeByHand(_ queries: Int) throws {
  let columns = ["id", "title", "body", "views", "created"]
  var length = 0
  for number in 0..<queries {
    let since = Date(timeIntervalSinceReferenceDate: Double(number))
    var text = "SELECT " + columns.map { "\"\($0)\"" }.joined(separator: ", ") + " FROM \"local_row\" WHERE "
    text += "\"views\" > ? AND \"created\" >= ? AND \"title\" >= ? AND \"title\" < ? ORDER BY \"created\" DESC LIMIT ?"
    let values: [Value] = [
      .integer(Int64(number)), .real(since.timeIntervalSince1970), .text("note"), .text("notf"), .integer(20),
    ]
    length += values.count + (text.isEmpty ? 1 : 0)
  }
  try expect(length, queries * 5)
}

/// What has notes.
private struct Folder: Model {
  static let schema = Schema<Self>("folder", sync: .local) { Column("name", \.name) }
  var id = RecordID<Folder>()
  var name = ""

  /// Folders, and the notes in them, of the same text as the other rows.
  static func make(_ count: Int, notesEach: Int) -> ([Folder], [Note]) {
    let folders = (0..<count).map { number in
      var folder = Folder()
      folder.name = "folder \(number)"
      return folder
    }
    let notes = LocalRow.make(count * notesEach).enumerated().map { number, row in
      var note = Note()
      note.folder = folders[number / notesEach].id
      note.title = row.title
      note.body = row.body
      note.views = row.views
      note.created = row.created
      return note
    }
    return (folders, notes)
  }
}

/// What belongs to a folder.
private struct Note: Model {
  static let schema = Schema<Self>("note", sync: .local) {
    Column("folder", \.folder).references(Folder.self)
    Column("title", \.title)
    Column("body", \.body)
    Column("views", \.views)
    Column("created", \.created)
    Index(\.folder)
  }
  var id = RecordID<Note>()
  var folder = RecordID<Folder>()
  var title = ""
  var body = ""
  var views = 0
  var created = Date(timeIntervalSinceReferenceDate: 0)
}

extension BareDatabase.Note {
  fileprivate init(_ note: Note) {
    self.init(
      id: .init(note.id), folder: .init(note.folder), title: note.title, body: note.body, views: note.views,
      created: note.created)
  }
}
