import Godwit

enum GodwitSamples {
  static func run() async throws {
    // begin sample
    struct Note: Model {
      static let schema = Schema<Self>("note") { Column("title", \.title) }
      var id = RecordID<Note>()
      var title = ""
    }

    let replica = try await Replica.open(at: "notes", models: Note.self)
    try await replica.write { try $0.insert(Note(title: "Buy milk")) }
    let found = try await replica.fetch(Note.where { $0.title.hasPrefix("Buy") })
    let sent = try await replica.export(to: .file("1.godwit-sync"))
    // end sample
    try expect(found.count == 1 && sent.transactions == 1)
  }
}
