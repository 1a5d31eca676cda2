import Godwit

enum ThreadsSamples {
  // begin sample
  struct Account: Model {
    static let schema = Schema<Self>("account") { Column("balance", \.balance) }
    var id = ""
    var balance = 0
  }

  struct Overdrawn: Error {}
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(at: "bank", models: Account.self)
    try await replica.write { try $0.insert([Account(id: "ada", balance: 100), Account(id: "bob")]) }

    // begin sample
    @Sendable func move(_ amount: Int, from: String, to: String) async throws {
      try await replica.write { transaction in
        guard var source = try transaction.fetch(Account.self, key: from),
          var target = try transaction.fetch(Account.self, key: to)
        else { return }
        source.balance -= amount
        target.balance += amount
        try transaction.update(source)
        try transaction.update(target)
        if source.balance < 0 { throw Overdrawn() }  // takes both updates back
      }
    }

    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<10 {
        tasks.addTask { try await move(1, from: "ada", to: "bob") }
      }
      try await tasks.waitForAll()
    }

    let total = try await replica.read { reader in  // one state, however long it takes
      let accounts = try reader.fetch(Account.all)
      return accounts.map(\.balance).reduce(0, +)
    }
    print(total)  // 100
    // end sample
    let ada = try await replica.fetch(Account.self, key: "ada")
    try expect(total == 100 && ada?.balance == 90)
    do {
      try await move(1_000, from: "ada", to: "bob")
      try expect(false)
    } catch is Overdrawn {}
    try await expect(replica.fetch(Account.self, key: "ada")?.balance == 90)

    // begin sample
    try await replica.write { transaction in
      try transaction.insert(Account(id: "eve", balance: 1))
      do {
        try transaction.savepoint {
          try transaction.insert(Account(id: "mallory", balance: 2))
          throw Overdrawn()
        }
      } catch is Overdrawn {}  // mallory is gone, eve stays
    }
    // end sample
    try await expect(replica.count(Account.where { $0.id.isIn(["eve", "mallory"]) }) == 1)

    // begin sample
    var zoe = Account(id: "zoe", balance: 1)
    try await replica.write { transaction in
      zoe.balance += 1
      try transaction.insert(zoe)
    }
    // end sample
    try await expect(replica.fetch(Account.self, key: "zoe")?.balance == 2)

    // begin sample
    let slow = Task {
      try await replica.rows(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    }
    slow.cancel()
    do {
      _ = try await slow.value
    } catch is CancellationError {
      print("interrupted")
    }
    // end sample

    // begin sample
    await replica.close()
    do {
      _ = try await replica.count(Account.all)
    } catch let error as GodwitError where error.code == .closed {
      print("the replica is closed")
    }
    // end sample
  }
}
