import Foundation
import Godwit
import Testing

@Suite("Migrations and kill -9")
struct MigrationKillTests {
  @Test("a killed migration leaves the old version or the new one, and can be run again")
  func killed() async throws {
    let folder = try TemporaryFolder()
    var path = ""
    var isDone = true
    var interrupted = 0
    // The subject makes 15 steps; after the last it is done, and may be so before the signal comes.
    for (number, steps) in [0, 1, 2, 5, 11, 12, 13, 14, 1, 12, 13, 15].enumerated() {
      if isDone {
        path = folder.file("replica-\(number)")
        #expect(try await KillSubject.run(["make-first-version", path], umask: "077") == 0)
      }
      try await KillSubject.kill(["migrate", path], after: steps)

      let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
      let report = try await replica.maintenance.verify()
      let status = try await replica.migrations.status()
      #expect(report.problems == [], "after \(steps) steps")
      #expect(report.rows == 3_000)
      #expect(status.version == 1 || status.version == 3, "after \(steps) steps")
      #expect(status.migrations.count == status.version)
      isDone = status.version == 3
      if status.version == 1 {
        interrupted += 1
        let changed = try await replica.rows(
          "SELECT count(*) FROM page WHERE titel <> 'Page' OR typeof(views) <> 'integer'")
        #expect(changed.first?.values == [0])
        #expect(report.transactions == 1)
      } else {
        let whole = try await replica.rows(
          "SELECT count(*) FROM sheet WHERE title = 'Page ' || id AND slug = 'page' AND views = 'v' || id")
        #expect(whole.first?.values == [3_000])
        #expect(report.transactions == 3)
      }
      await replica.close()
    }
    #expect(interrupted >= 8)
  }
}
