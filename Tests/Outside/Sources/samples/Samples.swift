import Godwit

/// The sample of README.md, in a program that sees what is public alone.
@main
struct Samples {
  static func main() async throws {
    // begin sample
    struct Note: Model {
      static let schema = Schema<Self>("note") {
        Column("title", \.title)
        Column("views", \.views)
        Column("folder", \.folder).references(Folder.self, onDelete: .cascade)
        Index(\.title)
      }
      var id = RecordID<Note>()  // UUIDv7
      var title = ""
      var views = 0
      var folder: Folder.ID?
    }

    struct Folder: Model {
      static let schema = Schema<Self>("folder") { Column("name", \.name) }
      var id = RecordID<Folder>()
      var name = ""
    }

    let replica = try await Replica.open(at: "notes.godwit", models: Folder.self, Note.self)

    try await replica.write { transaction in  // captured and committed as one
      var work = Folder()
      work.name = "Work"
      var note = Note()
      note.title = "Buy milk"
      note.folder = work.id
      try transaction.insert(work)
      try transaction.insert(note)
    }

    let found = try await replica.fetch(
      Note.where { $0.title.hasPrefix("Buy") && $0.views < 3 }.order(by: \.title).limit(20))
    try await replica.write { transaction in
      for var note in found {
        note.views += 1
        try transaction.update(note)  // writes and records the one column that changed
      }
    }

    let sent = try await replica.export(to: .file("laptop.godwit-sync"))  // signed, sealed to the members
    let report = try await replica.import(from: .file("laptop.godwit-sync"))  // whole or not at all
    print(sent.transactions, report.applied.transactions, report.attention.conflicts)
    // end sample
  }
}
