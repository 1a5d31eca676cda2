import Godwit

enum ConflictsSamples {
  // begin sample
  struct Note: Model {
    static let schema = Schema<Self>("note") {
      Column("slug", \.slug).unique()
      Column("title", \.title)
      Column("views", \.views, merge: .counter)
    }
    var id = ""
    var slug = ""
    var title = ""
    var views = 0
  }
  // end sample

  static func run() async throws {
    let desk = try await Replica.open(at: "desk", models: Note.self)
    let identity = try await Replica.identity(at: "laptop")
    try await desk.members.invite(
      identity, name: "laptop", verification: .trustOnFirstUse, to: .file("laptop.invitation"))
    await (try Replica.join(at: "laptop", invitation: .file("laptop.invitation"), inviter: .trustOnFirstUse)).close()
    let laptop = try await Replica.open(at: "laptop", models: Note.self)
    try await desk.write { try $0.insert(Note(id: "a", slug: "milk", title: "Buy milk")) }
    try await carry(from: desk, to: laptop)

    // begin sample
    try await desk.write { try $0.execute("UPDATE note SET title = 'Buy oat milk', views = views + 1") }
    // end sample
    // Of two writes in one millisecond the origins decide which is the later one.
    try await Task.sleep(for: .milliseconds(2))
    // begin sample
    try await laptop.write { try $0.execute("UPDATE note SET title = 'Buy milk, 2 l', views = views + 1") }
    try await carry(from: desk, to: laptop)

    for conflict in try await laptop.conflicts.list() {
      print(conflict.table, conflict.key, conflict.columns)  // note [text("a")] ["title"]
      print(conflict.losingValue, "lost to", conflict.winningValue)
      print(conflict.loser?.replica == desk.identity.replica)  // true: the laptop's write was the later one
    }
    // end sample
    let conflict = try await laptop.conflicts.list()[0]
    try expect(conflict.columns == ["title"], conflict.losingValue == "Buy oat milk")

    // begin sample
    try await laptop.conflicts.restore(conflict.id)
    // end sample
    let restored = try await laptop.fetch(Note.self, key: "a")
    try expect(restored?.title == "Buy oat milk", restored?.views == 2)

    // begin sample
    let why = try await laptop.history.explain(table: "note", key: ["a"], column: "views")
    for part in why.cells[0].parts {
      print(part.author.replica, part.author.sequence, part.value)  // who brought which difference
    }
    // end sample
    try expect(why.cells[0].value == 2, why.cells[0].parts.count == 3)

    try await carry(from: laptop, to: desk)
    try await desk.write { try $0.insert(Note(id: "b", slug: "tea")) }
    try await laptop.write { try $0.insert(Note(id: "c", slug: "tea")) }
    _ = try await desk.export(to: .file("changes"))
    // begin sample
    let plan = try await laptop.plan(importing: .file("changes"))
    print(plan.report.applied.transactions, plan.conflicts.count, plan.limbo.map(\.key))
    // end sample
    try expect(plan.report.applied.transactions == 1, plan.limbo.count == 1)

    _ = try await laptop.import(from: .file("changes"))
    // begin sample
    for row in try await laptop.history.limbo() {
      for reason in row.reasons {
        if case .uniqueValue(let columns, let values, let holder) = reason.kind {
          print(row.key, "waits:", holder, "has", values, "in", columns)
        }
      }
    }
    // end sample
    try expect(try await laptop.history.limbo().count == 1)
    await desk.close()
    await laptop.close()
  }

  private static func carry(from sender: Replica, to receiver: Replica) async throws {
    _ = try await sender.export(to: .file("changes"))
    _ = try await receiver.import(from: .file("changes"))
  }
}
