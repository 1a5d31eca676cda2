import Godwit

enum FirstReplicaSamples {
  // begin sample
  struct Entry: Model {
    static let schema = Schema<Self>("entry") {
      Column("text", \.text)
      Column("is_done", \.isDone)
    }
    var id = RecordID<Entry>()
    var text = ""
    var isDone = false
  }
  // end sample

  static func run() async throws {
    // begin sample
    let desk = try await Replica.open(at: "desk", models: Entry.self)

    try await desk.write { transaction in
      try transaction.insert(Entry(text: "water the plants"))
      try transaction.insert(Entry(text: "call Ada"))
    }

    let waiting = try await desk.fetch(Entry.where { !$0.isDone }.order(by: \.text))
    for entry in waiting { print(entry.text) }  // call Ada, water the plants
    // end sample
    try expect(waiting.map(\.text) == ["call Ada", "water the plants"])

    // begin sample
    let identity = try await Replica.identity(at: "laptop")
    let readAtLaptop = identity.fingerprint  // or fingerprintWords: godwit identity shows both there
    try await desk.members.invite(
      identity, name: "laptop", verification: .fingerprint(readAtLaptop), to: .file("laptop.invitation"))

    let readAtDesk = desk.identity.fingerprint
    let joined = try await Replica.join(
      at: "laptop", invitation: .file("laptop.invitation"), inviter: .fingerprint(readAtDesk))
    await joined.close()
    let laptop = try await Replica.open(at: "laptop", models: Entry.self)
    // end sample

    // begin sample
    let sent = try await desk.export(to: .file("1.godwit-sync"))
    let report = try await laptop.import(from: .file("1.godwit-sync"))
    print("\(sent.transactions) sent, \(report.applied.transactions) applied, \(report.attention.conflicts) conflicts")
    // end sample
    try expect(sent.transactions == 1 && report.applied.transactions == 1 && report.attention.conflicts == 0)
    try await expect(laptop.maintenance.digest() == desk.maintenance.digest())

    // begin sample
    let scratch = try await Replica.temporary(models: Entry.self)  // its folder goes when it is closed
    let volatile = try await Replica.inMemory(models: Entry.self)  // in /dev/shm, encrypted too
    let reader = try await Replica.open(at: "desk", models: Entry.self, configuration: .init(isReadOnly: true))
    let entries = try await reader.count(Entry.all)
    print(entries)  // 2
    for replica in [scratch, volatile, reader] { await replica.close() }
    // end sample
    try expect(entries == 2)

    // begin sample
    do {
      _ = try await Replica.open(at: "elsewhere", models: Entry.self, configuration: .init(mustExist: true))
    } catch let error as GodwitError where error.code == .noReplica {
      print(error.message)  // there is no replica in elsewhere
    }
    // end sample

    // begin sample
    let verification = try await desk.maintenance.verify()
    print(verification.isSound, verification.digest)
    await desk.close()
    // end sample
    try expect(verification.isSound)
    await laptop.close()
  }
}
