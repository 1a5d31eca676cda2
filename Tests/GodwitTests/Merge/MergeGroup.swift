import Foundation
import Godwit
import Testing

/// Replicas that write apart and then exchange everything, in every order of two.
struct MergeGroup {
  static let models: [any Model.Type] = [
    Page.self, Session.self, Login.self, Bookcase.self, Volume.self, Leaf.self, Twig.self,
  ]
  let folder: TemporaryFolder
  let clock = TestClock()
  private(set) var replicas: [Replica] = []

  init(_ count: Int = 2, models: [any Model.Type] = Self.models) async throws {
    folder = try TemporaryFolder()
    let first = try await ReplicaPair.open(folder.file("0"), models, clock)
    replicas = [first]
    for number in 1..<count {
      let path = folder.file("\(number)")
      let identity = try await Replica.identity(at: path)
      let invitation = folder.file("\(number).invitation")
      try await first.members.invite(
        identity, name: "replica-\(number)", verification: .trustOnFirstUse, to: .file(invitation))
      await (try Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
      replicas.append(try await ReplicaPair.open(path, models, clock))
    }
    try await exchange()
  }

  subscript(index: Int) -> Replica { replicas[index] }

  /// One replica writes, and time passes.
  func write(_ replica: Int, _ sql: SQL...) async throws { try await write(replica, sql) }

  func write(_ replica: Int, _ sql: [SQL]) async throws {
    clock.advance(10)
    try await replicas[replica].write { transaction in
      for statement in sql { _ = try transaction.execute(statement) }
    }
  }

  @discardableResult
  func send(_ sender: Int, _ receiver: Int) async throws -> MergeReport {
    let path = folder.file(UUID().uuidString)
    defer { unlink(path) }
    _ = try await replicas[sender].export(to: .file(path), includesAll: true)
    return try await replicas[receiver].import(from: .file(path))
  }

  /// Everything goes to everyone; all then hold the same.
  func exchange(at location: SourceLocation = #_sourceLocation) async throws {
    for _ in 0..<2 {
      for sender in replicas.indices {
        for receiver in replicas.indices where receiver != sender { try await send(sender, receiver) }
      }
    }
    var digests: Set<String> = []
    for replica in replicas {
      digests.insert(try await replica.maintenance.digest())
      let report = try await replica.maintenance.verify()
      #expect(report.problems.isEmpty, sourceLocation: location)
    }
    #expect(digests.count == 1, sourceLocation: location)
  }

  /// What every replica answers, which must be one answer.
  func rows(_ sql: SQL, at location: SourceLocation = #_sourceLocation) async throws -> [[Value]] {
    var answers: Set<[[Value]]> = []
    for replica in replicas { answers.insert(try await replica.rows(sql).map(\.values)) }
    #expect(answers.count == 1, sourceLocation: location)
    return answers.first ?? []
  }

  /// The kinds of the conflicts that each replica lists, newest last.
  func conflicts(_ replica: Int) async throws -> [Conflict] {
    try await replicas[replica].conflicts.list(limit: 100).reversed()
  }
}
