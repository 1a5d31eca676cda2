import Foundation
import Godwit

/// A tree of rows that meet on everything a merge has rules for.
struct Thing: Model {
  static let schema = Schema<Self>("thing") {
    Column("name", \.name)
    Column("code", \.code).unique()
    Column("count", \.count, merge: .counter)
    Column("tags", \.tags, merge: .addWinsSet)
    Column("best", \.best, merge: .max)
    Column("parent", \.parent).references(Thing.self, onDelete: .setNull, acyclic: true)
  }
  var id = ""
  var name = ""
  var code: String?
  var count = 0
  var tags: Set<String> = []
  var best = 0
  var parent: String?
}

/// A delete of one of these wins, and its thing takes it along.
struct Remark: Model {
  static let schema = Schema<Self>("remark", deletes: .deleteWins) {
    Column("text", \.text)
    Column("thing", \.thing).references(Thing.self, onDelete: .cascade)
  }
  var id = ""
  var text = ""
  var thing = ""
}

/// Replicas of one group over these models.
struct ThingGroup {
  let folder: TemporaryFolder
  let clock = TestClock()
  let tuning: Replica.Tuning
  let isPostQuantum: Bool
  var replicas: [Replica] = []

  init(_ count: Int, _ tuning: Replica.Tuning = Replica.Tuning(), isPostQuantum: Bool = false) async throws {
    self.tuning = tuning
    self.isPostQuantum = isPostQuantum
    folder = try TemporaryFolder()
    if isPostQuantum { _ = try await Replica.identity(at: folder.file("replica-0"), postQuantum: true) }
    replicas = [try await Self.open(folder.file("replica-0"), clock, tuning)]
    for _ in 1..<max(1, count) { try await join() }
    for _ in 0..<2 { try await exchange() }
  }

  static func open(
    _ path: String, _ clock: TestClock, _ tuning: Replica.Tuning = Replica.Tuning()
  ) async throws -> Replica {
    try await Replica.open(
      at: path, models: [Thing.self, Remark.self], configuration: .init(key: .keyring(), logger: .init(label: "test")),
      wallClock: clock.wallClock, tuning: tuning)
  }

  /// Makes a further replica a member.
  @discardableResult
  mutating func join() async throws -> Replica {
    let name = "replica-\(replicas.count)"
    let identity = try await Replica.identity(at: folder.file(name), postQuantum: isPostQuantum)
    let invitation = folder.file("\(name).invitation")
    try await replicas[0].members.invite(identity, name: name, verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: folder.file(name), invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    let replica = try await Self.open(folder.file(name), clock, tuning)
    replicas.append(replica)
    return replica
  }

  @discardableResult
  func send(_ sender: Int, _ receiver: Int) async throws -> MergeReport {
    let path = folder.file(UUID().uuidString)
    defer { unlink(path) }
    _ = try await replicas[sender].export(to: .file(path))
    return try await replicas[receiver].import(from: .file(path))
  }

  /// Each to each.
  func exchange() async throws {
    for sender in replicas.indices {
      for receiver in replicas.indices where receiver != sender { try await send(sender, receiver) }
    }
  }

  func digests() async throws -> Set<String> {
    var digests: Set<String> = []
    for replica in replicas { digests.insert(try await replica.maintenance.digest()) }
    return digests
  }

  func logCount(_ index: Int) async throws -> Int { try await replicas[index].history.log(limit: 1_000_000).count }

  /// Rows of one of Godwit's own tables.
  func count(_ table: String, _ index: Int) async throws -> Int {
    try await replicas[index].rows(SQL(text: "SELECT count(*) FROM \(table)")).first.flatMap { row in
      if case .integer(let number) = row.values[0] { Int(number) } else { nil }
    } ?? 0
  }
}
