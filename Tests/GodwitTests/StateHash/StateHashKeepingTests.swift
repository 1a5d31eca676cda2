import Foundation
import GodwitBase
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("The state hash")
struct StateHashKeepingTests {
  private func hash(_ replica: Replica, at location: SourceLocation = #_sourceLocation) async throws -> String {
    let report = try await replica.maintenance.verify()
    #expect(report.problems.isEmpty, sourceLocation: location)
    return report.stateHash
  }

  /// All replicas say the same.
  private func common(_ group: MergeGroup, at location: SourceLocation = #_sourceLocation) async throws -> String {
    var hashes: Set<String> = []
    for replica in group.replicas { hashes.insert(try await hash(replica, at: location)) }
    #expect(hashes.count == 1, sourceLocation: location)
    return hashes.first ?? ""
  }

  @Test("is what the tables hold after writes of every kind, and equal where the same changes are held")
  func kinds() async throws {
    let group = try await MergeGroup(2)
    let empty = try await common(group)
    try await group.write(
      0, "INSERT INTO page (id, title, views) VALUES ('a', 'x', 1), ('b', 'y', 2), ('c', 'z', 3)",
      "UPDATE page SET views = views + 5 WHERE id = 'a'", "UPDATE page SET id = 'd' WHERE id = 'b'",
      "REPLACE INTO page (id, title) VALUES ('c', 'replaced')", "INSERT INTO session (id, user) VALUES ('s', 'u')")
    try await group.write(0, "UPDATE page SET title = 'came and went'", "DELETE FROM page WHERE id = 'd'")
    _ = try? await group[0].write { tx in
      try tx.insert(Login(id: "l", email: "gone"))
      throw CancellationError()
    }
    try await group[0].write { tx in
      _ = try? tx.savepoint {
        try tx.execute("UPDATE page SET title = 'taken back'")
        throw CancellationError()
      }
      _ = try? tx.execute("INSERT INTO page (id, title) VALUES ('e', 'x'), ('a', 'is there')")
      try tx.insert(Login(id: "m", email: "stays"))
    }
    _ = try await hash(group[0])
    try await group.write(
      1, "INSERT INTO page (id, title) VALUES ('a', 'from the other')", "UPDATE page SET views = views + 1",
      "INSERT INTO account (id, email) VALUES ('n', 'stays')", "INSERT INTO volume (id, shelf) VALUES ('v', NULL)")
    try await group.exchange()
    let full = try await common(group)
    #expect(full != empty)
    try await group.write(1, "DELETE FROM page", "DELETE FROM session", "DELETE FROM account", "DELETE FROM volume")
    try await group.exchange()
    try await group.write(0, "DELETE FROM account")
    try await group.exchange()
    #expect(try await common(group) == empty)
  }

  @Test("stands after many inserts in a row, reopening, compaction and a new incarnation")
  func keeping() async throws {
    let folder = try TemporaryFolder()
    var replica = try await Replica.open(at: folder.file("r"), models: Page.self, Session.self)
    try await replica.write { tx in
      for number in 0..<500 { try tx.insert(Page(id: "\(number)", title: "t\(number)")) }
    }
    try await replica.write { try $0.insert(Session(id: "s", user: "u")) }
    let before = try await hash(replica)
    await replica.close()
    replica = try await Replica.open(at: folder.file("r"), models: Page.self, Session.self)
    #expect(try await hash(replica) == before)
    try await replica.maintenance.compact()
    #expect(try await hash(replica) == before)
    try await replica.write { try $0.execute("UPDATE page SET title = 'u' WHERE id = '7'") }
    await replica.close()
    unlink(folder.file("r") + "/keyring.anchor")
    replica = try await Replica.open(at: folder.file("r"), models: Page.self, Session.self)
    #expect(try await hash(replica) != before)
    try await replica.write { try $0.execute("UPDATE page SET title = 't7' WHERE id = '7'") }
    #expect(try await hash(replica) == before)
    await replica.close()
  }

  @Test("is kept when more tables change than a log entry lists")
  func manyTables() async throws {
    let replica = try await Replica.inMemory(models: Page.self)
    try await replica.write { tx in
      for number in 0..<20 { try replica.documents("c\(number)").in(tx).set("k", json: "{\"n\":1}") }
    }
    let many = try await hash(replica)
    try await replica.write { try $0.insert(Page(id: "a")) }
    #expect(try await hash(replica) != many)
    await replica.close()
  }

  @Test("follows a table that stops and starts to travel, a state file and a migration")
  func rawWriters() async throws {
    let group = try await MergeGroup(2)
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'x')", "INSERT INTO session (id) VALUES ('s')")
    try await group.exchange()
    let before = try await common(group)
    try await group[1].tables.stopSync(of: "page")
    #expect(try await hash(group[1]) != before)
    _ = try await group[1].tables.startSync(of: "page")
    #expect(try await hash(group[1]) == before)
    let file = group.folder.file("state")
    _ = try await group[0].exportState(to: .file(file))
    try await group.write(1, "INSERT INTO page (id, title) VALUES ('b', 'y')")
    _ = try await group[1].rejoin(from: .file(file))
    try await group.exchange()
    #expect(try await common(group) != before)
  }

  /// Writes to a table past everything that looks, as a replica does that errs.
  private func err(_ replica: Replica, _ sql: String) async throws {
    try await replica.withWriter { writer in
      try writer.withoutChecks {
        try writer.inTransaction {
          try writer.connection.execute(sql)
          writer.tally.recomputeAll()
        }
      }
    }
  }

  @Test("names a member whose tables hold something else for the same changes, until it states the same")
  func differing() async throws {
    let group = try await MergeGroup(2)
    try await group.write(0, "INSERT INTO page (id, title) VALUES ('a', 'x')")
    try await group.exchange()
    #expect(try await group.send(1, 0).attention.differing.isEmpty)
    try await err(group[1], "UPDATE page SET title = 'wrong'")
    let report = try await group.send(1, 0)
    #expect(report.applied.transactions == 0 && report.attention.differing == [group[1].identity.replica])
    #expect(try await group[0].status().differing == report.attention.differing)
    #expect(try await group[0].maintenance.verify().differing == report.attention.differing)
    #expect(try await group[0].maintenance.verify().isSound)
    // What is of another vector says nothing of that.
    try await group.write(0, "INSERT INTO session (id) VALUES ('s')")
    #expect(try await group.send(1, 0).attention.differing == report.attention.differing)
    try await err(group[1], "UPDATE page SET title = 'x'")
    try await group.send(0, 1)
    #expect(try await group.send(1, 0).attention.differing.isEmpty)
    #expect(try await group[0].status().differing.isEmpty)
  }

  @Test("shows an old page that is put back into the database, and names the table")
  func oldPage() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("r")
    let other = folder.file("copy")
    var replica = try await Replica.open(at: path, models: Page.self, Session.self)
    try await replica.write { tx in for number in 0..<200 { try tx.insert(Page(id: "\(number)", title: "old")) } }
    try await replica.closeIntoOneFile()
    let old = try Data(contentsOf: URL(fileURLWithPath: path + "/database"))
    replica = try await Replica.open(at: path, models: Page.self, Session.self)
    try await replica.write { try $0.execute("UPDATE page SET title = 'new' WHERE id = '100'") }
    try await replica.closeIntoOneFile()
    let new = try Data(contentsOf: URL(fileURLWithPath: path + "/database"))
    var found = 0
    for start in stride(from: 4_096, to: min(old.count, new.count), by: 4_096) {
      let page = start..<start + 4_096
      guard old[page] != new[page] else { continue }
      var mixed = new
      mixed.replaceSubrange(page, with: old[page])
      try? FileManager.default.removeItem(atPath: other)
      try FileManager.default.copyItem(atPath: path, toPath: other)
      try mixed.write(to: URL(fileURLWithPath: other + "/database"))
      chmod(other + "/database", 0o600)
      let reader = try await Replica.open(at: other, models: Page.self, configuration: .init(isReadOnly: true))
      let title = try? await reader.rows("SELECT title FROM page WHERE id = '100'").first?.values
      if title == ["old"] {
        found += 1
        let problems = try await reader.maintenance.verify().problems
        #expect(
          problems == ["state: table page does not hold what was written to it: a page of it was put back or altered"])
      }
      await reader.close()
    }
    #expect(found == 1)
  }

  @Test("is noted beside the keyring: pages that are put back together with their sums are found by the next opening")
  func anchored() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("r")
    func open() async throws -> Replica { try await Replica.open(at: path, models: Page.self, Session.self) }
    var replica = try await open()
    try await replica.write { try $0.insert(Page(id: "a", title: "new")) }
    await replica.close()
    let anchor = ReplicaFolder(path, key: .keyring()).anchor
    let noted = try #require(try anchor.noted()?.state)
    replica = try await open()
    #expect(try await replica.status().alteredAt == nil)
    #expect(try await replica.maintenance.verify().isSound)
    // The same history over other rows, whose sums fit; only what is beside the keyring shows it.
    try await err(replica, "UPDATE page SET title = 'old'")
    await replica.close()
    var altered = try #require(try anchor.noted())
    #expect(altered.state?.chains == noted.chains && altered.state != noted)
    altered.state = noted
    try anchor.write(altered, isDurable: false)
    replica = try await open()
    let report = try await replica.maintenance.verify()
    #expect(report.alteredAt != nil && report.problems.count == 1 && report.problems[0].hasPrefix("state: "))
    #expect(try await replica.status().alteredAt == report.alteredAt)
    try await replica.write { try $0.insert(Page(id: "b")) }
    await replica.close()
    // It stays known until somebody accepts it.
    replica = try await open()
    #expect(try await replica.maintenance.verify().alteredAt == report.alteredAt)
    #expect(try await replica.maintenance.acceptState())
    #expect(try await !replica.maintenance.acceptState())
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
    replica = try await open()
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }
}

extension AnchorFile {
  fileprivate func noted() throws -> Anchor? {
    guard case .anchor(let anchor) = try read() else { return nil }
    return anchor
  }
}
