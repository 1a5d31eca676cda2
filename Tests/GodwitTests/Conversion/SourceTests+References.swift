import GodwitStorage
import TestFolders
import Testing

@testable import Godwit

/// Of which types the references are.
extension SourceTests {
  @Test("has references of their keys' type, so that other members take its tables")
  func referenceTypes() async throws {
    let source = try source(
      """
      CREATE TABLE parent (id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (1);
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent); INSERT INTO child VALUES (1, 1), (2, NULL);
      CREATE TABLE other (id INTEGER PRIMARY KEY, parent TEXT REFERENCES parent); INSERT INTO other VALUES (1, '1');
      """)
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.map { $0.obstacle == nil } == [true, true, false])
    let replica = try await Replica.open(at: path)
    for table in ["parent", "child"] { _ = try await replica.tables.startSync(of: table) }
    let other = folder.file("replica-other")
    let identity = try await Replica.identity(at: other)
    let (invitation, file) = (folder.file("replica-invitation"), folder.file("replica-file"))
    try await replica.members.invite(identity, name: "other", verification: .trustOnFirstUse, to: .file(invitation))
    let joined = try await Replica.join(at: other, invitation: .file(invitation), inviter: .trustOnFirstUse)
    _ = try await replica.export(to: .file(file))
    _ = try await joined.import(from: .file(file))
    #expect(try await joined.rows("SELECT id, parent FROM child ORDER BY id").map(\.values) == [[1, 1], [2, .null]])
    for one in [replica, joined] { await one.close() }
  }

  @Test("has references of their keys' type also where keys refer to keys, in any order", arguments: [false, true])
  func chain(isReversed: Bool) async throws {
    let count = 300
    var tables = (1..<count).map { "CREATE TABLE t\($0) (k PRIMARY KEY REFERENCES t\($0 + 1)) WITHOUT ROWID" }
    tables.append("CREATE TABLE t\(count) (k INTEGER PRIMARY KEY)")
    let rows = (1...count).reversed().map { "INSERT INTO t\($0) VALUES (7)" }
    let made = isReversed ? tables.reversed() : tables
    let source = try source((made + rows).joined(separator: ";\n"))
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.count == count && report.tables.allSatisfy { $0.obstacle == nil })
  }

  @Test("is made also of tables whose keys refer to one another in a ring, of other types")
  func ring() async throws {
    let types = ["INTEGER", "TEXT", "INTEGER", "TEXT", "INTEGER"]
    let tables = types.enumerated().map { index, type in
      "CREATE TABLE t\(index) (k \(type) PRIMARY KEY NOT NULL REFERENCES t\((index + 1) % types.count))"
    }
    let source = try source(tables.joined(separator: ";\n"))
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.count == types.count)
  }
}
