import Foundation
import Godwit
import Testing

@Suite("kill -9 of what forgets and of what comes after")
struct ForgettingKillTests {
  @Test("while a log is compacted leaves the same data, and a log that the next run shortens further")
  func whileCompacting() async throws {
    let pair = try await ReplicaPair(models: [Account.self])
    for number in 1...6_000 {
      try await pair.sender.write { try $0.save(Account(id: number % 700, balance: number)) }
    }
    let digest = try await pair.sender.maintenance.digest()
    let file = pair.folder.file("changes")
    _ = try await pair.sender.export(to: .file(file))
    _ = try await pair.receiver.import(from: .file(file))
    _ = try await pair.receiver.export(to: .file(pair.folder.file("answer")))
    _ = try await pair.sender.import(from: .file(pair.folder.file("answer")))
    let path = pair.sender.path
    var logged = try await pair.sender.maintenance.verify().transactions
    await pair.sender.close()
    var interrupted = 0
    var random = SeededGenerator(seed: 23)
    for round in 1...40 {
      try await KillSubject.kill(
        ["compact", path], after: 1, andMicroseconds: UInt32.random(in: 0...20_000, using: &random))
      let replica = try await Replica.open(at: path, models: Account.self)
      let report = try await replica.maintenance.verify()
      #expect(report.problems == [] && report.digest == digest, "round \(round)")
      #expect(report.transactions <= logged, "round \(round)")
      await replica.close()
      logged = report.transactions
      if logged == 0 { break }
      interrupted += 1
    }
    #expect(interrupted > 0)

    let replica = try await Replica.open(at: path, models: Account.self)
    try await replica.maintenance.compact()
    let report = try await replica.maintenance.verify()
    await replica.close()
    #expect(report.transactions == 0 && report.digest == digest && report.problems == [])
    await pair.receiver.close()
  }

  @Test("while a state file is loaded leaves nothing of it, or all")
  func whileLoading() async throws {
    let pair = try await ReplicaPair(models: [Account.self])
    try await pair.sender.write { transaction in
      for number in 1...20_000 { try transaction.insert(Account(id: number, balance: number)) }
    }
    let digest = try await pair.sender.maintenance.digest()
    let empty = try await pair.receiver.maintenance.digest()
    let file = pair.folder.file("stateFile")
    _ = try await pair.sender.exportState(to: .file(file))
    let path = pair.receiver.path
    await pair.receiver.close()
    var interrupted = 0
    var found = empty
    for round in 0..<200 where found == empty {
      try await KillSubject.kill(["import", path, file], after: round / 4, andMicroseconds: UInt32(round % 4) * 15_000)
      let replica = try await Replica.open(at: path, models: Account.self)
      let report = try await replica.maintenance.verify()
      await replica.close()
      #expect(report.problems == [], "round \(round)")
      #expect(report.digest == empty || report.digest == digest, "round \(round)")
      found = report.digest
      if found == empty { interrupted += 1 }
      try expectNoPlaintext(in: pair.folder.path)
    }
    #expect(interrupted > 4)

    let replica = try await Replica.open(at: path, models: Account.self)
    if found == empty { _ = try await replica.import(from: .file(file)) }
    #expect(try await replica.maintenance.digest() == digest)
    await replica.close()
    await pair.sender.close()
  }
}
