import Foundation
import Godwit
import Testing

@Suite("Caches of several processes")
struct CacheProcessTests {
  @Test("a cache whose process was killed holds whole values, within its bound")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    for steps in [1, 37, 90] {
      #expect(try await KillSubject.kill(["cache", path], after: steps) >= steps)
      let replica = try await Replica.open(at: path)
      let cache = try replica.cache("killed", bound: .entries(50))
      let statistics = try await cache.statistics()
      #expect((1...50).contains(statistics.entries))
      var found = 0
      for number in 1..<400 {
        guard let value = try await cache.value(for: "k\(number)", as: [Int].self) else { continue }
        #expect(value == Array(repeating: number, count: 1_000))
        found += 1
      }
      #expect(found == statistics.entries)
      await replica.close()
    }
  }

  @Test("processes on one replica compute each key once between them")
  func computeOnce() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    let log = folder.file("log")
    await (try Replica.open(at: path)).close()
    #expect(FileManager.default.createFile(atPath: log, contents: nil))
    let statuses = try await withThrowingTaskGroup(of: Int32.self) { tasks in
      for _ in 0..<3 {
        tasks.addTask { try await KillSubject.run(["cache-compute", path, log], umask: "022") }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == [0, 0, 0])
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(lines.sorted() == (0..<20).map(String.init).sorted())
  }
}
