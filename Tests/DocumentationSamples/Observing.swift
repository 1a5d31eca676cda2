import Godwit

enum ObservingSamples {
  // begin sample
  struct Note: Model {
    static let schema = Schema<Self>("note") {
      Column("title", \.title)
      Column("views", \.views)
    }
    var id = RecordID<Note>()
    var title = ""
    var views = 0
  }
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(at: "notes", models: Note.self)

    // begin sample
    let popular = Note.where { $0.views > 3 }.order(by: \.title)
    let follower = Task {
      for try await notes in replica.observe(popular) {
        print(notes.map(\.title))  // [] at once, then ["Buy milk"]
        if notes.count == 1 { break }  // a break ends the observation
      }
    }

    try await replica.write { try $0.insert(Note(title: "Buy milk", views: 10)) }
    try await follower.value
    // end sample

    // begin sample
    let totals = replica.observe(Note.select { ($0.id.count(), $0.views.sum()) })
    for try await rows in totals {
      print(rows[0].0, rows[0].1 ?? 0)  // 1 10
      break
    }
    // end sample

    // begin sample
    let milk = try await replica.first(popular)
    for try await note in replica.observe(Note.self, key: milk?.id ?? Note.ID()) {
      print(note?.views ?? 0)  // 10
      break
    }
    for try await note in replica.observe(first: Note.order(by: \.views, .descending)) {
      print(note?.title ?? "none")  // Buy milk
      break
    }
    // end sample

    let notes = replica.observe(popular)
    // begin sample
    let loop = Task {
      do {
        for try await found in notes { print(found.count) }
        print("closed or cancelled")
      } catch {
        print("the request failed: \(error)")
      }
    }
    loop.cancel()
    await loop.value
    // end sample
    await replica.close()
  }
}
