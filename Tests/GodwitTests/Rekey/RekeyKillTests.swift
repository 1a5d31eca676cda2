import Foundation
import GodwitKeys
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Rekeying, kill -9 and a full disk", .timeLimit(.minutes(5)))
struct RekeyKillTests {
  @Test("a killed rekey leaves the old database or the new one, whole, and nothing beside it")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    var random = SeededGenerator(seed: 23)
    var salts: Set<[UInt8]> = []
    for round in 1...30 {
      let steps = Int.random(in: 1...14, using: &random)
      let delay = UInt32.random(in: 0...60_000, using: &random)
      try await KillSubject.kill(["rekey", path], after: steps, andMicroseconds: delay)

      let replica = try await Replica.open(at: path, models: Account.self)
      let report = try await replica.maintenance.verify()
      let rows = try await replica.fetch(Account.where { $0.id < 10 }.order(by: \.id))
      let contents = try Keyring.open(at: replica.folder.keys)
      await replica.close()
      #expect(report.problems == [], "round \(round)")
      #expect(Set(rows.map(\.balance)).count <= 1, "round \(round)")
      #expect(try contents.pendingDatabase == nil, "round \(round)")
      salts.insert(contents.databaseSalt ?? [])
      let files = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(Set(files.filter { $0.hasPrefix("database") }) == ["database", "database-gate"], "round \(round)")
      #expect(!files.contains { $0.hasPrefix("rekey.") && $0 != "rekey.lock" }, "round \(round)")
      try expectNoPlaintext(in: path)
    }
    #expect(salts.count > 5)
  }

  @Test(
    "a disk that fills up leaves the old database with its key, and no part of the new one",
    .enabled(if: SmallDisk.canMount, "a small file system cannot be mounted here"))
  func fullDisk() async throws {
    let disk = try SmallDisk(megabytes: 6)
    let replica = try await TestGroup.open("\(disk.folder.path)/replica")
    try await replica.write { tx in
      for number in 0..<2_000 { try tx.insert(Note(title: "note \(number)", body: String(repeating: "x", count: 500))) }
    }
    _ = try await replica.maintenance.compact()
    let digest = try await replica.maintenance.digest()
    try disk.fill()
    let error = await failure { try await replica.maintenance.rekey() }
    #expect(error?.code == .diskFull, "\(String(describing: error))")
    let files = try FileManager.default.contentsOfDirectory(atPath: replica.path)
    #expect(!files.contains { $0.hasPrefix("database.new") })
    #expect(try await replica.maintenance.digest() == digest)
    await replica.close()

    unlink(disk.filler)
    let again = try await TestGroup.open(replica.path)
    #expect(try await again.maintenance.digest() == digest)
    try await again.maintenance.rekey()
    #expect(try await again.maintenance.digest() == digest)
    #expect(try await again.maintenance.verify().isSound)
    await again.close()
  }
}
