import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Replicas of one group whose programs are of different versions, and the files between them.
final class MigrationGroup {
  let folder: TemporaryFolder
  let clock = TestClock()
  let migrations: [Migration]
  private(set) var replicas: [Replica] = []

  /// Each replica starts with the first `version` migrations; with 0 it has none.
  init(_ versions: [Int], @Migrations.Builder _ migrations: () -> [Migration]) async throws {
    folder = try TemporaryFolder()
    self.migrations = migrations()
    for (number, version) in versions.enumerated() {
      if number > 0 {
        let identity = try await Replica.identity(at: path(number))
        try await replicas[0].members.invite(
          identity, name: "replica-\(number)", verification: .trustOnFirstUse, to: .file(folder.file("invitation")))
        await
          (try Replica.join(at: path(number), invitation: .file(folder.file("invitation")), inviter: .trustOnFirstUse))
          .close()
      }
      replicas.append(try await open(number, version))
    }
    // So that those who came early know of those who came late.
    if replicas.count > 2 { for number in 1..<replicas.count { try await send(0, to: number) } }
  }

  func path(_ number: Int) -> String { folder.file("replica-\(number)") }

  func migrations(_ version: Int) -> Migrations {
    version == 0 ? .none : Migrations(Array(migrations.prefix(version)))
  }

  private func open(_ number: Int, _ version: Int) async throws -> Replica {
    try await ReplicaPair.open(path(number), [], clock, migrations: migrations(version))
  }

  /// Gives the replica a program of another version.
  func update(_ number: Int, to version: Int) async throws {
    await replicas[number].close()
    replicas[number] = try await open(number, version)
  }

  subscript(number: Int) -> Replica { replicas[number] }

  /// Runs SQL as one transaction, one tick after all before.
  func write(_ number: Int, _ sql: SQL...) async throws {
    clock.advance(10)
    try await replicas[number].write { transaction in
      for statement in sql { try transaction.execute(statement) }
    }
  }

  @discardableResult
  func send(_ sender: Int, to receiver: Int) async throws -> MergeReport {
    clock.advance(10)
    let file = folder.file(UUID().uuidString)
    _ = try await replicas[sender].export(to: .file(file), includesAll: true)
    return try await replicas[receiver].import(from: .file(file))
  }

  /// Makes a removed replica a member again; returns the first one's state file for it.
  func readmit(_ number: Int) async throws -> String {
    clock.advance(1_000)
    let (name, file) = ("replica-\(number)", folder.file("state"))
    try await replicas[0].members.invite(
      replicas[number].identity, name: name, verification: .trustOnFirstUse, to: .file(folder.file("again")))
    _ = try await replicas[0].exportState(to: .file(file), for: name)
    return file
  }

  func exchange() async throws {
    for _ in 0..<2 {
      for sender in replicas.indices {
        for receiver in replicas.indices where receiver != sender { try await send(sender, to: receiver) }
      }
    }
  }

  func rows(_ number: Int, _ sql: String) async throws -> [[Value]] {
    try await replicas[number].rows(SQL(text: sql)).map(\.values)
  }

  /// All hold the same tables and rows, and every one is sound.
  func expectSame(at location: SourceLocation = #_sourceLocation) async throws {
    var digests: Set<String> = []
    for replica in replicas {
      let report = try await replica.maintenance.verify()
      #expect(report.problems == [], sourceLocation: location)
      digests.insert(report.digest)
    }
    #expect(digests.count == 1, sourceLocation: location)
  }
}
