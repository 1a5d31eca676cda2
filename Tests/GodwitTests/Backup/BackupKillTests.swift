import Foundation
import GodwitKeys
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Backups, kill -9 and a full disk", .timeLimit(.minutes(5)))
struct BackupKillTests {
  private let folder: TemporaryFolder
  private let path: String
  private let file: String

  init() async throws {
    folder = try TemporaryFolder()
    path = folder.file("replica")
    file = folder.file("backup")
    let replica = try await Replica.open(at: path, models: Account.self)
    try await replica.write { tx in for id in 10..<2_000 { try tx.insert(Account(id: id)) } }
    await replica.close()
  }

  @Test("a killed backup leaves none or a whole one at its place, no plaintext, and nothing after the next")
  func killedBackup() async throws {
    var random = SeededGenerator(seed: 31)
    var whole = 0
    for round in 1...12 {
      let steps = Int.random(in: 0...9, using: &random)
      let delay = UInt32.random(in: 0...30_000, using: &random)
      try await KillSubject.kill(["backup", path, file], after: steps, andMicroseconds: delay)
      try expectNoPlaintext(in: folder.path)
      guard FileManager.default.fileExists(atPath: file) else { continue }
      let restored = folder.file("restored-\(round)")
      let keys = Replica.KeySource.keyring(machineKey: "\(path)/machine.key")
      let report = try await Replica.restore(file, to: restored, key: keys)
      #expect(report.verification.rows == 1_990, "round \(round)")
      try FileManager.default.removeItem(atPath: restored)
      whole += 1
      if round.isMultiple(of: 3) { unlink(file) }
    }
    #expect(whole > 0)
    let replica = try await Replica.open(at: path, models: Account.self)
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("backup") }
    #expect(names == ["backup"])
  }

  @Test("a killed restore leaves the former database or the restored one, and nothing beside it")
  func killedRestore() async throws {
    let replica = try await Replica.open(at: path, models: Account.self)
    _ = try await replica.maintenance.backup(to: file)
    await replica.close()
    var random = SeededGenerator(seed: 37)
    for round in 1...15 {
      let steps = Int.random(in: 0...7, using: &random)
      let delay = UInt32.random(in: 0...40_000, using: &random)
      try await KillSubject.kill(["restore", path, file], after: steps, andMicroseconds: delay)
      let open = try await Replica.open(at: path, models: Account.self)
      #expect(try await open.maintenance.verify().problems == [], "round \(round)")
      #expect(try await open.count(Account.where { $0.id >= 10 }) == 1_990, "round \(round)")
      await open.close()
      let left = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("database") }
      #expect(Set(left) == ["database", "database-gate"], "round \(round)")
      try expectNoPlaintext(in: folder.path)
    }
  }

  @Test(
    "a full disk fails a backup, leaves no part of it and keeps the former; and fails a restore likewise",
    .enabled(if: SmallDisk.canMount, "a small file system cannot be mounted here"))
  func fullDisk() async throws {
    let disk = try SmallDisk(megabytes: 3)
    let small = "\(disk.folder.path)/replica"
    let made = try await Replica.open(at: small, models: Account.self)
    try await made.write { tx in for id in 10..<100 { try tx.insert(Account(id: id)) } }
    _ = try await made.maintenance.backup(to: file)
    let digest = try await made.maintenance.digest()
    await made.close()
    let replica = try await Replica.open(at: path, models: Account.self)
    try disk.fill()
    let error = await failure { try await replica.maintenance.backup(to: "\(disk.folder.path)/backup") }
    #expect(error?.code == .diskFull, "\(String(describing: error))")
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path)) == ["filler", "replica"])
    await replica.close()
    #expect(await code { try await Replica.restore(file, to: small) } == .diskFull)
    #expect(try !FileManager.default.contentsOfDirectory(atPath: small).contains("database.new"))
    unlink(disk.filler)
    let again = try await Replica.open(at: small, configuration: .init(isReadOnly: true))
    #expect(try await again.maintenance.digest() == digest)
    await again.close()
  }
}
