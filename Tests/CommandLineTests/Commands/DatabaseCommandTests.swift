import Foundation
import Godwit
import GodwitStorage
import TestFolders
import Testing

/// rekey, backup, restore, export --plaintext, init --from.
@Suite struct DatabaseCommandTests {
  private let machine: Machine

  init() throws {
    machine = try Machine("database")
    try #require(try machine.godwit("init", "--name", "desk").status == 0)
  }

  private func secretFile(_ name: String, _ text: String, on machine: Machine) throws {
    try machine.write(Data(text.utf8), to: name)
    chmod(machine.path(name), 0o600)
  }

  @Test(arguments: [["restore", "pipe"], ["init", "--from", "pipe"]])
  func whatIsReadFromItsEndIsNoPipeAndNobodyWaitsForOne(arguments: [String]) throws {
    let machine = try Machine("pipe")
    try #require(mkfifo(machine.path("pipe"), 0o600) == 0)
    let outcome = try machine.run(arguments)
    #expect(outcome.status == 1 && outcome.error.contains("pipe is not a plain file"), "\(outcome.error)")
  }

  @Test func rekeyingKeepsEverythingAndReplacesTheFile() async throws {
    try await machine.write { try $0.insert(Note(title: "one")) }
    let digest = try machine.digest()
    let before = try machine.read(".godwit/database").prefix(16)
    #expect(try machine.godwit("rekey", "--json").objects().first?["rekeyed"] as? Bool == true)
    #expect(try machine.read(".godwit/database").prefix(16) != before)
    let rotated = try machine.godwit("keyring", "rotate", "--database", "--json")
    #expect(try rotated.objects().first?["rekeyed"] as? Bool == true)
    #expect(try machine.digest() == digest)
    #expect(try machine.godwit("verify").status == 0)
  }

  @Test func aBackupComesBackOnAFreshMachineWithTheRecoveryCode() async throws {
    try await machine.write { try $0.insert(Note(title: "one")) }
    let warned = try machine.godwit("backup", "notes.backup")
    #expect(warned.status == 0 && warned.error.contains("godwit keyring add recovery-code"))
    let code = try machine.godwit("keyring", "add", "recovery-code", "--label", "paper").text
    let written = try machine.godwit("backup", "notes.backup", "--json")
    let slots = try #require(try written.objects().first?["slots"] as? [[String: Any]])
    #expect(slots.map { $0["label"] as? String } == ["machine", "paper"])

    let other = try Machine("fresh")
    try other.write(try machine.read("notes.backup"), to: "notes.backup")
    let refused = try other.godwit("restore", "notes.backup")
    #expect(refused.status == 12 && refused.error.contains("machine (machine key), paper (recovery code)"))
    let restored = try other.godwit(
      "restore", "notes.backup", "--recovery-code-file", "-", "--json", input: Data(code.utf8))
    let json = try #require(try restored.objects().first)
    #expect(restored.status == 0)
    #expect(Set(json.keys) == ["path", "replica", "group", "transactions", "rows", "digest", "keyring"])
    #expect(json["digest"] as? String == (try machine.godwit("verify", "--digest-only").lines.first))
    #expect(json["keyring"] as? Bool == true)
    #expect(restored.error.isEmpty)
    try secretFile("code", code, on: other)
    let opened = try other.godwit("status", "--recovery-code-file", "code", "--json")
    #expect(try opened.objects().first?["name"] as? String == "desk")
  }

  /// A machine that was lost: what the restore says is what is to be done.
  @Test func aRestoredReplicaGetsAKeyOfItsMachineByTheCommandsThatAreNamed() throws {
    let code = try machine.godwit("keyring", "add", "recovery-code", "--label", "paper").text
    try #require(try machine.godwit("backup", "notes.backup").status == 0)
    let other = try Machine("again")
    try other.write(try machine.read("notes.backup"), to: "notes.backup")
    try secretFile("code", code, on: other)
    let restored = try other.godwit("restore", "notes.backup", "--recovery-code-file", "code")
    let named = restored.error.split(separator: "\n").filter { $0.hasPrefix("  godwit ") }.map { $0.dropFirst(9) }
    #expect(restored.status == 0 && named.count == 2, "\(restored.error)")
    #expect(try other.godwit("status").status == 12)
    for command in named {
      #expect(try other.shell("$GODWIT \(command) --recovery-code-file code").status == 0, "\(command)")
    }
    #expect(try other.godwit("status").status == 0)
    // Where this machine's key fits there is nothing to be done.
    let here = try machine.godwit("-C", "twin", "restore", "notes.backup")
    #expect(here.status == 0 && !here.error.contains("no key of this machine"), "\(here.error)")
  }

  @Test func aRestoreTakesTheReplicaBackAndAChangedFileIsRefused() async throws {
    try await machine.write { try $0.insert(Note(title: "one")) }
    let digest = try machine.digest()
    try #require(try machine.godwit("backup", "notes.backup").status == 0)
    try await machine.write { _ = try $0.delete(Note.all) }
    var bytes = try machine.read("notes.backup")
    bytes[5_000] ^= 1
    try machine.write(bytes, to: "changed")
    #expect(try machine.godwit("restore", "changed").status == 13)
    #expect(try machine.digest() != digest)
    let unsent = try machine.godwit("restore", "notes.backup")
    #expect(unsent.status == 1 && unsent.error.contains("1 of its own transactions"))
    #expect(unsent.error.contains("--discard-unsent"))
    #expect(try machine.digest() != digest)
    let restored = try machine.godwit("restore", "notes.backup", "--discard-unsent")
    #expect(restored.status == 0 && restored.error.contains("new incarnation"))
    #expect(try machine.digest() == digest)
    #expect(try machine.godwit("backup", ".godwit/notes.backup").status == 1)
    #expect(try machine.godwit("backup", "-").status == 64)
    #expect(try machine.godwit("restore", "-").status == 64)
    #expect(!FileManager.default.fileExists(atPath: machine.path("-")))
  }

  @Test(arguments: [["backup"], ["export"], ["export", "--state"], ["export", "--plaintext"]])
  func aPipeOrALinkIsNotReplacedByAFile(command: [String]) throws {
    let pipe = machine.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    try machine.write(Data("kept".utf8), to: "target")
    try FileManager.default.createSymbolicLink(atPath: machine.path("link"), withDestinationPath: "target")
    for name in ["pipe", "link"] {
      let outcome = try machine.run(command + [name])
      #expect(outcome.status == 1 && outcome.output.isEmpty)
    }
    var status = stat()
    #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    #expect(try machine.read("target") == Data("kept".utf8))
    let left = try FileManager.default.contentsOfDirectory(atPath: machine.folder)
    #expect(Set(left).intersection(["pipe", "link", "target"]).count == 3 && !left.contains { $0.hasSuffix(".tmp") })
  }

  @Test func leavingWarnsInAnyCaseAndReplacesNothing() async throws {
    try await machine.write { try $0.insert(Note(title: "one", views: 7)) }
    _ = try TestFolder.plaintext("notes.db", in: machine.folder)
    let notes = "plaintext/notes.db"
    let written = try machine.godwit("export", "--plaintext", notes, "--quiet", "--json")
    #expect(written.status == 0)
    #expect(written.error.contains("warning: \(notes) will not be encrypted"))
    #expect(try written.objects().first?["encrypted"] as? Bool == false)
    #expect(try machine.read(notes).starts(with: Data("SQLite format 3\0".utf8)))
    #expect(try machine.godwit("export", "--plaintext", notes).status == 1)
    #expect(try machine.godwit("export", "--plaintext", "-").status == 64)
    #expect(try machine.godwit("export", "--plaintext", "--for", "desk", "other.db").status == 64)

    let other = try Machine("arrived")
    _ = try TestFolder.plaintext("notes.db", in: other.folder)
    try other.write(try machine.read(notes), to: notes)
    let made = try other.godwit("init", "--from", notes, "--name", "new", "--json")
    let tables = try #require(try made.objects().first?["tables"] as? [[String: Any]])
    #expect(tables.map { $0["table"] as? String } == ["note"] && tables[0]["obstacle"] is NSNull)
    #expect(try other.godwit("table", "start-sync", "note").status == 0)
    let unknown = try other.godwit("table", "start-sync", "nothing")
    #expect(unknown.status == 1 && unknown.error.contains("there is no table nothing"))
    #expect(try other.godwit("query", "SELECT title, views FROM note", "--json").objects().first?["views"] as? Int == 7)
    #expect(try other.godwit("init", "--from", notes).status == 1)
    #expect(try other.godwit("init", "elsewhere", "--from-secret-file", "x").status == 64)
    let encrypted = try other.godwit(
      "init", "elsewhere", "--from", ".godwit/database", "--from-secret-file", "-", input: Data("wrong".utf8))
    #expect(encrypted.status == 12)
    let quantum = try other.godwit("init", "quantum", "--from", notes, "--post-quantum", "--json")
    #expect(quantum.status == 0, "\(quantum.error)")
    #expect((try quantum.objects().first?["tables"] as? [Any])?.count == 1)
    #expect(try other.godwit("-C", "quantum", "identity", "--post-quantum").status == 0)
    let classical = try other.godwit("identity", "--post-quantum")
    #expect(classical.status == 1 && classical.error.contains("not post-quantum"), "\(classical.error)")
  }

  @Test func whatDoesNotComeAlongIsNamedWithItsStatement() throws {
    let other = try Machine("code")
    let source = try TestFolder.plaintext("shop.db", in: other.folder)
    try Data().write(to: URL(fileURLWithPath: source))
    try Connection(plaintext: source, mode: .copy).execute(
      """
      CREATE TABLE price (id INTEGER PRIMARY KEY, cents INTEGER CHECK (cents > 0)); INSERT INTO price VALUES (1, 5);
      CREATE VIEW dear AS SELECT * FROM price WHERE cents > 3;
      """)
    let said = try other.godwit("init", "shown", "--from", "plaintext/shop.db")
    #expect(said.status == 0 && said.error.contains("price: 1 row, without CHECK\n"), "\(said.error)")
    #expect(
      said.error.contains("dear: left out, a view\n") && said.error.contains("--json shows all of it"), "\(said.error)")
    let made = try #require(try other.godwit("init", "--from", "plaintext/shop.db", "--json").objects().first)
    let table = try #require((made["tables"] as? [[String: Any]])?.first)
    #expect(
      table["leftOut"] as? [String] == ["CHECK"] && (table["sql"] as? String)?.hasPrefix("CREATE TABLE price") == true)
    let left = try #require(made["leftOut"] as? [[String: String]])
    #expect(
      left == [["type": "view", "name": "dear", "sql": "CREATE VIEW dear AS SELECT * FROM price WHERE cents > 3"]])
  }
}
