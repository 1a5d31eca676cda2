import Foundation
import Godwit
import Testing

/// The formats have a second implementation, in Python, written from the specification alone (Tests/Conformance). What
/// either writes the other reads.
@Suite("Conformance", .enabled(if: PythonPeer.python != nil, "no Python for it: set GODWIT_CONFORMANCE_PYTHON"))
struct ConformanceTests {
  @Test func whatIsWrittenHerePythonReadsAndWritesAgainAlike() throws {
    let (desk, laptop) = try groupOfTwo()
    try desk.write(Data(Self.migrations.utf8), to: "migrations")
    try #require(try desk.godwit("migrate", desk.path("migrations")).status == 0)
    try desk.put("notes", #"{"_key": "a", "count": 2, "tags": ["x", "y"], "title": "größer", "done": true}"#)
    try desk.put("measure", #"{"_key": "a", "value": 1.5e-9, "list": [1, {"a": []}], "big": 9007199254740993}"#)
    try laptop.take(desk)
    try laptop.put("notes", #"{"_key": "a", "count": 5, "tags": ["y", "z"]}"#, "--merge")
    try laptop.put("notes", #"{"_key": "b", "count": 1, "_expires": "2099-01-31T00:00:00Z"}"#)
    try #require(try laptop.godwit("rm", "measure", "a").status == 0)
    try desk.put("notes", #"{"_key": "a", "count": 1, "tags": ["q"]}"#, "--merge")
    try desk.take(laptop)
    try #require(try desk.godwit("identity", "rotate").status == 0)
    try #require(try desk.godwit("member", "rename", "laptop", "shelf").status == 0)
    try #require(try desk.godwit("export", "--all", desk.path("all")).status == 0)
    try #require(try desk.godwit("export", "--state", desk.path("stateFile")).status == 0)

    let files = [desk.path("first"), laptop.path("first"), desk.path("all"), desk.path("stateFile")]
    let transactions = try laptop.python("check", files)
    #expect(transactions.count > 8)
    let relayed = Set(try laptop.python("check", [desk.path("all")]))
    #expect(relayed == Set(try laptop.python("check", [desk.path("stateFile")])))
    // The keyring of who rotated has its former keys and the histories.
    #expect(try desk.python("check", [desk.path("all")]).count == 6)
    try #require(try laptop.run(["import", desk.path("all"), desk.path("stateFile")]).status == 0)
    #expect(try desk.digest() == laptop.digest())
  }

  @Test func everyOperationAndValueIsReadThere() async throws {
    let (desk, laptop) = try groupOfTwo()
    try desk.write(Data(Self.migrations.utf8), to: "migrations")
    try #require(try desk.godwit("migrate", desk.path("migrations")).status == 0)
    try await desk.execute(
      """
      INSERT INTO thing (id, whole, "real", "text", "blob", "any", count)
      VALUES (1, -9223372036854775808, -0.0, '', x'00ff', 1.0, 1), (2, NULL, 9e999, 'ß', x'', '1', 0)
      """,
      "INSERT INTO part VALUES (1, 'wing', 0.5), (1, 'tail', NULL)",
      "UPDATE thing SET \"real\" = 5e-324, count = count + 7, \"text\" = NULL WHERE id = 1",
      "UPDATE part SET name = 'fin' WHERE name = 'tail'",
      "DELETE FROM thing WHERE id = 2",
      """
      INSERT INTO thing (id, "text")
      WITH n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, hex(i) FROM n
      """)
    try laptop.take(desk)
    let operations = try laptop.python("check", [desk.path("first")]).joined()
    for kind in ["insert", "update", "delete"] { #expect(operations.contains(#""kind": "\#(kind)""#)) }
    try #require(try desk.godwit("export", "--state", desk.path("stateFile")).status == 0)
    #expect(try laptop.python("check", [desk.path("stateFile")]).joined() == operations)
    #expect(try desk.digest() == laptop.digest())
  }

  @Test("what Python writes is taken in and passed on, also in a post-quantum group", arguments: [false, true])
  func whatPythonWritesIsTakenInAndPassedOn(isPostQuantum: Bool) throws {
    let (desk, laptop) = try groupOfTwo(isPostQuantum: isPostQuantum)
    try laptop.put("notes", #"{"_key": "a", "count": 2}"#)
    try #require(try laptop.godwit("export", laptop.path("honest")).status == 0)
    let written = try laptop.python("write", [laptop.path("honest"), laptop.path("foreign")])
    #expect(written.count == 3)

    let report = try #require(try desk.run(["import", "--json", laptop.path("foreign")]).objects().first)
    #expect(report["applied"] as? Int == 0 && report["waiting"] as? Int == 3, "what it stands on has not come")
    try #require(try desk.run(["import", laptop.path("honest")]).status == 0)
    let rows = try desk.godwit("query", "SELECT * FROM everything ORDER BY id", "--json").lines
    #expect(
      rows == [
        #"{"id":1,"whole":-9223372036854775808,"real":5e-324,"text":"","blob":{"$blob":"00ff"},"#
          + #""any":{"$blob":"66697665"},"count":7,"tags":"[\"b\",\"c\"]"}"#,
        #"{"id":2,"whole":9223372036854775807,"real":"Infinity","text":"größer 🐦","blob":{"$blob":""},"#
          + #""any":"1","count":0,"tags":"[]"}"#,
        #"{"id":4,"whole":null,"real":null,"text":"under another key","blob":null,"any":null,"count":-5,"tags":"[]"}"#,
      ])
    let parts = try desk.godwit("query", "SELECT name, weight FROM part", "--json").lines
    #expect(parts == [#"{"name":"wing","weight":1.5}"#])
    #expect(try desk.godwit("verify").status == 0)

    try #require(try desk.godwit("export", "--all", desk.path("all")).status == 0)
    let relayed = try laptop.python("check", [desk.path("all")])
    #expect(relayed.filter { $0.contains(#""incarnation": "0c0ffee0""#) } == written)
    try #require(try laptop.run(["import", desk.path("all")]).status == 0)
    #expect(try desk.digest() == laptop.digest())
  }

  @Test func invitationsAreReadThere() throws {
    let (desk, laptop) = try groupOfTwo()
    #expect(try laptop.python("invitation", [desk.path("laptop.godwit-invitation")]) == [])
  }

  private func groupOfTwo(isPostQuantum: Bool = false) throws -> (desk: Machine, laptop: Machine) {
    let (desk, laptop) = (try Machine("desk"), try Machine("laptop"))
    let kind = isPostQuantum ? ["--post-quantum"] : []
    try #require(try desk.run(["init", "--name", "desk"] + kind).status == 0)
    try #require(try laptop.run(["identity"] + kind).status == 0)
    try desk.invite(laptop)
    return (desk, laptop)
  }

  /// Tables of every type, with all that a column can have, made by every kind of step that changes tables.
  private static let migrations = """
    {"format": "godwit migrations 1", "migrations": [
      {"version": 1, "name": "things", "steps": [
        {"step": "createTable", "table": "thing", "definitions": [
          {"name": "id", "type": "integer"}, {"name": "whole", "type": "integer", "optional": true},
          {"name": "real", "type": "real", "optional": true}, {"name": "text", "type": "text", "default": {"text": "none"}},
          {"name": "blob", "type": "blob", "optional": true}, {"name": "former", "type": "text", "optional": true},
          {"name": "count", "type": "integer", "default": {"integer": "0"}, "merge": "counter"}],
          "indexes": [{"columns": ["whole"], "unique": true}]},
        {"step": "createTable", "table": "bit", "keyCount": 2, "deletes": "deleteWins", "definitions": [
          {"name": "owner", "type": "integer", "references": {"table": "thing", "onDelete": "cascade"}},
          {"name": "name", "type": "text"}, {"name": "weight", "type": "real", "optional": true, "check": "weight > 0"}]},
        {"step": "createTable", "table": "old", "definitions": [{"name": "id", "type": "text"}]}]},
      {"version": 2, "name": "better", "steps": [
        {"step": "renameTable", "table": "bit", "to": "part"},
        {"step": "renameColumn", "table": "thing", "column": "former", "to": "other"},
        {"step": "addColumn", "table": "thing", "from": "other", "by": "upper(other)",
          "definition": {"name": "any", "type": "any", "optional": true}},
        {"step": "changeColumn", "table": "thing", "definition": {"name": "text", "type": "text", "optional": true}},
        {"step": "dropColumn", "table": "thing", "column": "other"},
        {"step": "addIndex", "table": "thing", "columns": ["text", "whole"]},
        {"step": "dropIndex", "table": "thing", "columns": ["text", "whole"]},
        {"step": "dropTable", "table": "old"},
        {"step": "stopSync", "table": "part"}]},
      {"version": 3, "name": "travels", "steps": [
        {"step": "startSync", "table": "part"},
        {"step": "data", "name": "nothing", "statements": [
          {"sql": "UPDATE thing SET whole = ? WHERE id = ?", "values": [{"integer": "1"}, {"integer": "-1"}]}]}]}]}
    """
}

extension Machine {
  /// Writes a document.
  fileprivate func put(_ collection: String, _ document: String, _ options: String...) throws {
    let members = ["--counter", "count", "--set", "tags"]
    let run = try run(["put", collection] + members + options, input: Data(document.utf8))
    try #require(run.status == 0, "\(run.error)")
  }

  /// Takes in what the other one exports, which stays there as `first`.
  fileprivate func take(_ other: Machine) throws {
    try #require(try other.godwit("export", other.path("first")).status == 0)
    let imported = try godwit("import", other.path("first"))
    try #require(imported.status == 0, "\(imported.error)")
  }

  /// Runs statements of SQL, each in a transaction of its own, as a program that knows no models.
  fileprivate func execute(_ statements: SQL...) async throws {
    let replica = try await Replica.open(at: replica, configuration: .init(key: keys, mustExist: true))
    for statement in statements { try await replica.write { _ = try $0.execute(statement) } }
    await replica.close()
  }

  /// Runs the Python half with this machine's keys; returns its lines.
  fileprivate func python(_ command: String, _ files: [String]) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(PythonPeer.python))
    process.arguments = [PythonPeer.script, command, replica, machineKey] + files
    let outcome = try Machine.finish([process], input: Data(), in: self)
    try #require(outcome.status == 0, "\(outcome.error)")
    return outcome.lines
  }
}

/// The other implementation.
enum PythonPeer {
  static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Conformance/conformance.py").standardizedFileURL.path

  /// A Python that has what it needs: the one GODWIT_CONFORMANCE_PYTHON names.
  static let python = ProcessInfo.processInfo.environment["GODWIT_CONFORMANCE_PYTHON"]
}
