import Foundation
import Godwit
import Testing

@Suite("kill -9")
struct KillTests {
  @Test("in the middle of writes leaves whole transactions, numbered without a gap, and no plaintext")
  func whileWriting() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    var random = SeededGenerator(seed: 7)
    var balance = 0
    for round in 1...14 {
      let steps = Int.random(in: 0...24, using: &random)
      try await KillSubject.kill(["write", path], after: steps)

      guard FileManager.default.fileExists(atPath: "\(path)/database") else {
        #expect(steps == 0, "round \(round)")
        continue
      }
      let replica = try await Replica.open(at: path, models: Account.self)
      let report = try await replica.maintenance.verify()
      let rows = try await replica.fetch(Account.where { $0.id < 1_000 }.order(by: \.id))
      let sequence = try await replica.history.log(limit: 1).first?.sequence ?? 0
      await replica.close()
      #expect(report.problems == [], "round \(round)")
      #expect(rows.count == (sequence == 0 ? 0 : 2) && Set(rows.map(\.balance)).count <= 1, "round \(round)")
      let reached = rows.first?.balance ?? 0
      // A transaction that was reported is there; one more may be.
      #expect(reached >= balance + steps && Int(sequence) == reached, "round \(round)")
      #expect(report.transactions == reached, "round \(round)")
      balance = reached
      try expectNoPlaintext(in: path)
    }
    #expect(balance > 14)
  }

  @Test("in the middle of an import leaves the state before it or after it")
  func whileImporting() async throws {
    let pair = try await ReplicaPair(models: [Account.self])
    let path = pair.receiver.path
    await pair.receiver.close()
    var random = SeededGenerator(seed: 11)
    var held: UInt64 = 0
    for round in 1...10 {
      for _ in 0..<40 {
        try await pair.sender.write { transaction in
          let next = (try transaction.fetch(Account.self, key: 1)?.balance ?? 0) + 1
          try transaction.save(Account(id: 1, balance: next))
          try transaction.save(Account(id: 2, balance: next))
        }
      }
      let file = pair.folder.file("changes-\(round)")
      _ = try await pair.sender.export(to: .file(file))
      let written = UInt64(40 * round)

      try await KillSubject.kill(["import", path, file], after: Int.random(in: 0...(41 * round), using: &random))

      let replica = try await Replica.open(at: path, models: Account.self)
      let report = try await replica.maintenance.verify()
      let status = try await replica.status()
      let rows = try await replica.fetch(Account.all)
      let sequence = status.applied.first { $0.replica == pair.sender.identity.replica }?.sequence ?? 0
      await replica.close()
      #expect(report.problems == [], "round \(round)")
      #expect(sequence == held || sequence == written, "round \(round)")
      #expect(rows.allSatisfy { $0.balance == Int(sequence) }, "round \(round)")
      #expect(status.staged == 0, "round \(round)")
      held = sequence
      try expectNoPlaintext(in: pair.folder.path)
    }

    let replica = try await Replica.open(at: path, models: Account.self)
    _ = try await replica.import(from: .file(pair.folder.file("changes-10")))
    #expect(try await replica.maintenance.digest() == pair.sender.maintenance.digest())
    await replica.close()
  }
}
