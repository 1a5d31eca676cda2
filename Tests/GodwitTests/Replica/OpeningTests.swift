import Foundation
import Logging
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Opening a replica", .timeLimit(.minutes(1)))
struct OpeningTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("in a temporary place makes a folder that goes when it is closed")
  func temporary() async throws {
    let replica = try await Replica.temporary(models: Folder.self, Note.self, in: folder.path)
    #expect(replica.path.hasPrefix(folder.path))
    try await replica.write { try $0.insert(Note(title: "short-lived")) }
    #expect(try await replica.count(Note.all) == 1)
    #expect(FileManager.default.fileExists(atPath: replica.path))
    await replica.close()
    #expect(!FileManager.default.fileExists(atPath: replica.path))
  }

  @Test("in memory leaves nothing behind")
  func inMemory() async throws {
    let replica = try await Replica.inMemory(models: Folder.self, Note.self)
    #expect(replica.path.hasPrefix("/dev/shm/"))
    try await replica.write { try $0.insert(Note(title: "volatile")) }
    #expect(try await replica.fetch(Note.all).map(\.title) == ["volatile"])
    await replica.close()
    #expect(!FileManager.default.fileExists(atPath: replica.path))
    #expect(await code { try await replica.count(Note.all) } == .closed)
  }

  @Test("to be read only reads, refuses to write, and observes other writers")
  func readOnly() async throws {
    let path = folder.file("replica")
    #expect(
      await code { try await Replica.open(at: path, models: Note.self, configuration: .init(isReadOnly: true)) }
        == .noReplica)
    let writer = try await Replica.open(at: path, models: Folder.self, Note.self)
    try await writer.write { try $0.insert(Note(title: "first")) }
    let reader = try await Replica.open(
      at: path, models: Folder.self, Note.self, configuration: .init(isReadOnly: true))
    #expect(try await reader.fetch(Note.all).map(\.title) == ["first"])
    #expect(await code { try await reader.write { try $0.insert(Note(title: "second")) } } == .readOnly)
    #expect(try await reader.export(to: .file(folder.file("out"))).transactions == 1)
    #expect(await code { try await reader.import(from: .file(folder.file("out"))) } == .readOnly)
    var observed = reader.observe(Note.select { $0.title }).makeAsyncIterator()
    #expect(try await observed.next() == ["first"])
    try await writer.write { _ = try $0.update(Note.all) { $0.set(\.title, to: "changed") } }
    #expect(try await observed.next() == ["changed"])
    #expect(
      await code { try await Replica.open(at: path, models: Draft.self, configuration: .init(isReadOnly: true)) }
        == .schemaMismatch)
    #expect(try await writer.rows("SELECT name FROM sqlite_master WHERE name = 'draft'").isEmpty)
    await reader.close()
    await writer.close()
  }

  @Test("refuses a database of another format by name, and says what to do", arguments: [-1, 1])
  func otherFormat(offset: Int64) async throws {
    let path = folder.file("replica")
    let replica = try await Replica.open(at: path, models: Draft.self)
    let format = try await replica.withWriter { writer in
      try writer.inTransaction {
        let format = try Meta.integer(.format, on: writer.connection)
        try Meta.set(.format, .integer(format + offset), on: writer.connection)
        return format
      }
    }
    await replica.close()
    for isReadOnly in [false, true] {
      let failure = await error {
        try await Replica.open(at: path, models: Draft.self, configuration: .init(isReadOnly: isReadOnly))
      }
      #expect(failure?.code == .unsupportedVersion)
      #expect(
        failure?.message == "the database is of format \(format + offset), and this program reads format \(format)")
      let hint = offset > 0 ? "update this program" : "export it as a plaintext database with the program that made it"
      #expect(failure?.hint?.hasPrefix(hint) == true)
    }
  }

  @Test("to be read only refuses a database that nobody has put tables in yet, and leaves it for a writer")
  func readOnlyEmpty() async throws {
    let path = folder.file("replica")
    _ = try await Replica.identity(at: path)
    try await group(path)
    try Data().write(to: URL(fileURLWithPath: path + "/database"))
    chmod(path + "/database", 0o600)
    let error = await #expect(throws: GodwitError.self) {
      try await Replica.open(at: path, models: Draft.self, configuration: .init(isReadOnly: true))
    }
    #expect(error?.code == .notADatabase, "\(String(describing: error))")
    #expect(error?.hint?.contains("open it for writing") == true)
    let replica = try await Replica.open(at: path, models: Draft.self)
    try await replica.write { try $0.insert(Draft()) }
    await replica.close()
  }

  /// Gives the keyring a group, as a call does that was killed before it made the database.
  private func group(_ path: String) async throws {
    let folder = ReplicaFolder(path, key: .keyring())
    _ = try folder.foundGroup(name: "desk", wallClock: .system)
  }

  @Test(
    "of a database that has become an empty file is refused, and what lies beside it stays", arguments: [true, false])
  func emptied(isReadOnly: Bool) async throws {
    let path = folder.file("replica")
    await (try Replica.open(at: path, models: Draft.self)).close()
    try Data().write(to: URL(fileURLWithPath: path + "/database"))
    let log = path + "/database-wal"
    try Data(count: 100).write(to: URL(fileURLWithPath: log))
    let error = await #expect(throws: GodwitError.self) {
      try await Replica.open(at: path, models: Draft.self, configuration: .init(isReadOnly: isReadOnly))
    }
    #expect(error?.code == .damagedDatabase && error?.message.contains("empty file") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: log)).count == 100)
  }

  @Test("closes its files when idle, and opens them again when needed, missing nothing")
  func idle() async throws {
    let path = folder.file("idle")
    let log = path + "/database-wal"
    let replica = try await Replica.open(
      at: path, models: Folder.self, Note.self, configuration: .init(idleTimeout: .milliseconds(200)))
    for round in 1...3 {
      try await replica.write { try $0.insert(Note(title: "round \(round)")) }
      #expect(try await replica.count(Note.all) == round)
      for _ in 0..<100 where FileManager.default.fileExists(atPath: log) {
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(!FileManager.default.fileExists(atPath: log))
    }
    let report = try await replica.maintenance.verify()
    #expect(report.isSound && report.transactions == 3)
    await replica.close()
    #expect(await code { try await replica.count(Note.all) } == .closed)
  }

  @Test("several at once keeps their rows apart, also of one model")
  func several() async throws {
    let first = try await Replica.open(at: folder.file("first"), models: Folder.self, Note.self)
    let second = try await Replica.open(at: folder.file("second"), models: Folder.self, Note.self)
    try await first.write { try $0.insert(Note(title: "one")) }
    try await second.write { try $0.insert([Note(title: "two"), Note(title: "three")]) }
    #expect(try await first.fetch(Note.all).map(\.title) == ["one"])
    #expect(try await second.count(Note.all) == 2)
    // A model belongs to the replicas that it was opened with.
    let third = try await Replica.open(at: folder.file("third"), models: Draft.self)
    try await third.write { try $0.insert(Draft(title: "four")) }
    #expect(try await third.fetch(Draft.all).map(\.title) == ["four"])
    #expect(await code { try await third.count(Note.all) } == .notInSchema)
    #expect(await code { try await first.write { try $0.insert(Draft(title: "five")) } } == .notInSchema)
    for replica in [first, second, third] { await replica.close() }
  }

  @Test("logs statements only when asked, and values only when asked for those")
  func statementLog() async throws {
    func lines(_ statements: Replica.StatementLog, level: Logger.Level = .debug) async throws -> [String] {
      let lines = StatementLines()
      var logger = lines.logger
      logger.logLevel = level
      let path = folder.file(UUID().uuidString)
      let replica = try await Replica.open(
        at: path, models: Folder.self, Note.self, configuration: .init(statements: statements, logger: logger))
      try await replica.write { try $0.insert(Note(title: "a secret title")) }
      _ = try await replica.fetch(Note.where { $0.title == "a secret title" })
      await replica.close()
      return lines.all
    }
    let none = try await lines(.none)
    #expect(none.contains { $0.contains("opened") } && !none.contains { $0.contains("SELECT") })
    let redacted = try await lines(.redacted)
    #expect(redacted.contains { $0.hasPrefix("debug: SELECT") && $0.contains("`title` = ?") })
    #expect(!redacted.contains { $0.contains("secret") })
    #expect(try await lines(.withValues).contains { $0.contains("`title` = 'a secret title'") })
    #expect(try await lines(.withValues, level: .info).isEmpty)
    #expect(Logger(label: "godwit").logLevel == .info)
  }
}

@Suite("Where a replica is opened", .timeLimit(.minutes(1)))
struct OpeningPlaceTests {
  @Test("may be a file URL, and no other")
  func url() async throws {
    let folder = try TemporaryFolder()
    let place = URL(filePath: folder.file("a folder"))
    await (try Replica.open(at: place, models: Note.self, Folder.self)).close()
    #expect(FileManager.default.fileExists(atPath: folder.file("a folder/database")))
    let remote = try #require(URL(string: "https://example.org/notes"))
    #expect(await code { try await Replica.open(at: remote, models: Note.self, Folder.self) } == .invalidArgument)
  }

  @Test("has no NUL in its path")
  func nul() async throws {
    let folder = try TemporaryFolder()
    #expect(await code { try await Replica.open(at: folder.file("a\0b"), models: Folder.self) } == .invalidArgument)
    #expect(await code { try await Replica.identity(at: folder.file("a\0b")) } == .invalidArgument)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let replica = try await Replica.open(at: folder.file("a"), models: Folder.self)
    #expect(await code { try await replica.export(to: .file(folder.file("f\0.sync"))) } == .invalidArgument)
    #expect(await code { try await replica.import(from: .file(folder.file("a/database\0"))) } == .invalidArgument)
    await replica.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
  }

  @Test("gives a new replica a name that a member can have, whatever the folder is called")
  func names() async throws {
    let folder = try TemporaryFolder()
    for name in [String(repeating: "long", count: 30), String(repeating: "\u{65e5}\u{672c}", count: 20)] {
      let replica = try await Replica.open(at: folder.file(name), models: Folder.self)
      let given = try #require(try await replica.members.list().first?.name)
      #expect(name.hasPrefix(given) && (60...64).contains(given.utf8.count))
      await replica.close()
    }
  }
}

/// The same table name as ``Note``'s is of no use to a replica that was opened without it.
@Suite("A model that the replica was not opened with")
struct UnknownModelTests {
  @Test("is notInSchema, for reading and writing")
  func unknown() async throws {
    let folder = try TemporaryFolder()
    let replica = try await Replica.open(at: folder.file("r"), models: Folder.self)
    #expect(await code { try await replica.fetch(Note.all) } == .notInSchema)
    #expect(await code { try await replica.count(Note.all) } == .notInSchema)
    #expect(await code { try await replica.write { try $0.insert(Note(title: "x")) } } == .notInSchema)
    #expect(await code { try await replica.write { try $0.save(Note(title: "x")) } } == .notInSchema)
    #expect(await code { try await replica.rows("SELECT * FROM note") } == .sql)
    await replica.close()
  }
}
