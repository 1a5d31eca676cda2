import Foundation
import Godwit
import Testing

@Suite("A replica that begins", .timeLimit(.minutes(60)))
struct StartingTests {
  private static let roundCount = ProcessInfo.processInfo.environment["GODWIT_START_ROUNDS"].flatMap { Int($0) } ?? 6
  private static let processCount = 8

  @Test("in several processes at once is one replica, and none of them fails")
  func processes() async throws {
    for round in 0..<Self.roundCount {
      let folder = try TemporaryFolder()
      let path = folder.file("shared")
      let statuses = try await withThrowingTaskGroup(of: Int32.self) { tasks in
        for _ in 0..<Self.processCount {
          tasks.addTask { try await KillSubject.run(["make", path], umask: "077") }
        }
        return try await tasks.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [Int32](repeating: 0, count: Self.processCount), "round \(round)")
      let replica = try await Replica.open(at: path, models: Account.self)
      #expect(try await replica.maintenance.verify().isSound, "round \(round)")
      #expect(try await replica.members.list().count == 1)
      await replica.close()
    }
  }

  @Test("by relative paths stays where it is when the process goes to another folder")
  func relative() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("keys"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    #expect(try await KillSubject.run(["relative", "notes", folder.path], umask: "077") == 0)
    let key = Replica.KeySource.keyring(at: folder.file("keys/ring"), machineKey: folder.file("keys/machine"))
    let replica = try await Replica.open(at: folder.file("notes"), models: Account.self, configuration: .init(key: key))
    #expect(try await replica.count(Account.all) == 1)
    await replica.close()
  }
}
