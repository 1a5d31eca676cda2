import Foundation
import Godwit
import Testing

/// Every failure has its exit code and a message, and writes nothing to the standard output.
@Suite struct FailureTests {
  private func expect(
    _ outcome: Outcome, status: Int32, says text: String, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(outcome.status == status, "\(outcome.error)", sourceLocation: location)
    #expect(outcome.output.isEmpty, sourceLocation: location)
    #expect(outcome.error.hasPrefix("godwit: error: "), sourceLocation: location)
    #expect(outcome.error.contains(text), "\(outcome.error)", sourceLocation: location)
  }

  @Test(arguments: [["status"], ["log"], ["verify"], ["export", "-"], ["import", "x"], ["query", "SELECT 1"]])
  func withoutAReplicaTheExitCodeIs10(arguments: [String]) throws {
    let machine = try Machine("bare")
    let outcome = try machine.godwit("-C", machine.folder, arguments[0], arguments.dropFirst().first ?? "--quiet")
    expect(outcome, status: 10, says: "no replica")
    #expect(outcome.error.contains("godwit: hint: "))
  }

  @Test func aForeignMachineKeyOpensNothing() async throws {
    let (desk, laptop) = try await Machine.pair()
    let outcome = try desk.godwit("status", "--machine-key", laptop.machineKey)
    expect(outcome, status: 12, says: "does not open the keyring")
  }

  @Test func aMissingKeyringIsToldFromAMissingReplica() async throws {
    let (desk, _) = try await Machine.pair()
    try FileManager.default.removeItem(atPath: "\(desk.replica)/keyring")
    expect(try desk.godwit("status"), status: 12, says: "keyring")
  }

  @Test func aLostDatabaseIsToldFromOneNotMadeYetAndABackupIsNamed() async throws {
    let (desk, laptop) = try await Machine.pair()
    try FileManager.default.removeItem(atPath: "\(desk.replica)/database")
    let lost = try desk.godwit("status")
    expect(lost, status: 10, says: "its database")
    #expect(lost.error.contains("godwit restore"))
    let fresh = try Machine("fresh")
    try #require(try fresh.godwit("identity").status == 0)
    expect(try fresh.godwit("status"), status: 10, says: "no replica yet")
    #expect(try laptop.godwit("status").status == 0)
  }

  @Test(.enabled(if: open("/dev/tty", O_RDWR) < 0, "there is a terminal to ask at"))
  func whatCannotBeAskedForIsNamed() throws {
    let machine = try Machine("bare")
    try machine.write(Data("no database\n".utf8), to: "notadb")
    try machine.write(Data(repeating: 7, count: 8_192), to: "c4.db")
    expect(try machine.godwit("init", "--from", "notadb"), status: 13, says: "notadb is not a database")
    let encrypted = try machine.godwit("init", "--from", "c4.db")
    expect(encrypted, status: 12, says: "c4.db is encrypted, or is no database")
    #expect(encrypted.error.contains("--from-secret-file"))
    #expect(!FileManager.default.fileExists(atPath: machine.replica))
    try #require(try machine.godwit("init").status == 0)
    let added = try machine.godwit("keyring", "add", "passphrase")
    expect(added, status: 1, says: "no terminal to ask for the new passphrase")
    #expect(added.error.contains("passphrase:FILE"))
  }

  @Test func aFileForSomebodyElseCannotBeOpened() async throws {
    let (desk, _) = try await Machine.pair()
    let (_, stranger) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    expect(try stranger.godwit("import", desk.path("changes.sync")), status: 12, says: "changes.sync")
  }

  @Test func aFileOfAnotherGroupIsRefused() async throws {
    let (desk, laptop) = try await Machine.pair()
    let other = try Machine("other")
    try #require(try other.godwit("init", "--name", "other").status == 0)
    let invited = try other.add(laptop.path("identity"), laptop)
    try #require(invited.status == 0)
    try #require(try other.godwit("export", "changes.sync").status == 0)
    let before = try laptop.digest()

    expect(try laptop.godwit("import", other.path("changes.sync")), status: 1, says: "belongs to group")

    #expect(try laptop.digest() == before)
    #expect(try desk.godwit("status").status == 0)
  }

  @Test(arguments: [1, 200, 400])
  func aTruncatedFileIsRefusedAndChangesNothing(missing: Int) async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    try desk.write(try desk.read("changes.sync").dropLast(missing), to: "short.sync")

    expect(try laptop.godwit("import", desk.path("short.sync")), status: 13, says: "short.sync")

    #expect(try laptop.godwit("log", "--json").output.isEmpty)
  }

  @Test func aChangedFileIsRefused() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    var bytes = try desk.read("changes.sync")
    bytes[bytes.count - 20] ^= 1
    try desk.write(bytes, to: "changed.sync")
    expect(try laptop.godwit("import", desk.path("changed.sync")), status: 13, says: "changed.sync")
  }

  @Test func oneBadFileDoesNotKeepTheOthersFromBeingApplied() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    try desk.write(try desk.read("changes.sync").dropLast(9), to: "short.sync")

    let outcome = try laptop.godwit("import", desk.path("short.sync"), desk.path("changes.sync"))

    #expect(outcome.status == 13)
    #expect(outcome.lines.count == 1)
    #expect(try laptop.digest() == desk.digest())
  }

  @Test func anInvitationForSomebodyElseIsRefused() async throws {
    let (desk, _) = try await Machine.pair()
    let stranger = try Machine("stranger")
    try #require(try stranger.godwit("identity").status == 0)
    expect(
      try stranger.godwit("join", desk.path("laptop.godwit-invitation")), status: 12, says: "sealed to other")
  }

  @Test func joiningWithoutAnIdentityMakesNothing() async throws {
    let (desk, _) = try await Machine.pair()
    let stranger = try Machine("stranger")
    expect(try stranger.godwit("join", desk.path("laptop.godwit-invitation")), status: 12, says: "no identity")
    #expect(!FileManager.default.fileExists(atPath: stranger.replica))
  }

  @Test func aSecondInitIsRefused() async throws {
    let (desk, _) = try await Machine.pair()
    expect(try desk.godwit("init"), status: 1, says: "already")
  }

  @Test func aDamagedDatabaseIsRefused() async throws {
    let (desk, _) = try await Machine.pair()
    let path = "\(desk.replica)/database"
    // What the log of the database still holds would stand in for the damaged page.
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    expect(try desk.godwit("status"), status: 13, says: "damaged")
  }

  @Test func aDatabaseThatSomebodyWritesIsBusy() async throws {
    let (desk, laptop) = try await Machine.pair()
    try #require(try desk.godwit("export", "changes.sync").status == 0)
    let replica = try await Replica.open(at: laptop.replica, models: Note.self, configuration: .init(key: laptop.keys))

    let outcome = try await replica.write { tx in
      try tx.insert(Note(title: "held"))
      return try laptop.godwit("import", desk.path("changes.sync"))
    }
    await replica.close()

    expect(outcome, status: 11, says: "busy")
  }

  @Test func anExportIntoTheReplicasOwnFolderIsRefused() async throws {
    let (desk, _) = try await Machine.pair()
    expect(try desk.godwit("export", ".godwit/database"), status: 1, says: "own folder")
    #expect(try desk.godwit("verify").status == 0)
  }

  @Test func anExportForNobodyIsRefused() async throws {
    let (desk, _) = try await Machine.pair()
    expect(try desk.godwit("export", "x", "--for", "nobody"), status: 1, says: "nobody")
  }

  @Test func theStandardInputIsReadOnceAndAnEmptyOneIsNamed() async throws {
    let (desk, _) = try await Machine.pair()
    for arguments in [["put", "t"], ["import", "-"], ["exec", "-"]] {
      let outcome = try desk.run(arguments + ["--passphrase-file", "-"])
      expect(outcome, status: 64, says: "the standard input is asked for twice")
    }
    let empty = try desk.run(["import", "-"])
    #expect(empty.status == 13 && empty.error.contains("the standard input: the file is empty"), "\(empty.error)")
    let joining = try desk.run(["join", "nowhere", "--name", "x"])
    #expect(joining.status == 16 && joining.error.contains("cannot be reached"), "\(joining.error)")
    expect(try desk.run(["join", "nowhere", "--fingerprint", ""]), status: 64, says: "--fingerprint is empty")
  }
}
