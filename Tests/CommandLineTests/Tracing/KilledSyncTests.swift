import Foundation
import Testing

/// Specs/remotes.md, "Faults", 14: a sync, killed at every call that gives names, takes them or makes them last, and at
/// many that write.
@Suite("A sync, killed anywhere", .seesSystemCalls, .timeLimit(.minutes(15)))
struct KilledSyncTests {
  @Test("is continued by the next one, and nothing is lost")
  func killed() async throws {
    let (desk, laptop) = try await Machine.pair()
    let stick = desk.path("stick")
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    for machine in [desk, laptop] { try #require(try machine.godwit("remote", "add", "stick", stick).status == 0) }
    var (number, killCount) = (0, 0)
    func put(_ machine: Machine) throws {
      number += 1
      let text = Data("{\"number\":\(number)}".utf8)
      try #require(try machine.godwit("put", "todo", "--as", "\(number)", input: text).status == 0)
    }
    for (calls, step) in [(["rename", "unlink", "fsync", "fdatasync"], 1), (["pwrite64", "write"], 11)] {
      try await desk.killEverywhere(["sync"], calls: calls, step: step) {
        try put(laptop)
        try #require(try laptop.godwit("sync").status == 0)
        try put(desk)
      } check: { place, isKilled in
        if isKilled { killCount += 1 }
        for machine in [desk, laptop, desk] {
          let outcome = try machine.godwit("sync")
          #expect(outcome.status == 0 && !outcome.error.contains("refused"), "\(place): \(outcome.error)")
        }
        #expect(try laptop.digest() == desk.digest(), "\(place)")
        #expect(try laptop.godwit("get", "todo").lines.count == number, "\(place)")
      }
    }
    #expect(killCount > 10)
    let left = try FileManager.default.contentsOfDirectory(atPath: "\(desk.replica)/remotes").sorted()
    #expect(left == ["lock"], "\(left)")
  }
}
