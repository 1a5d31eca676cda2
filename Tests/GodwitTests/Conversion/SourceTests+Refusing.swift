import Foundation
import GodwitKeys
import GodwitStorage
import Synchronization
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

/// What no replica is made of, and what is left where one was not made.
extension SourceTests {
  @Test("is not made of rows that refer to none")
  func dangling() async throws {
    let source = try source(
      """
      PRAGMA foreign_keys=OFF; CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent);
      INSERT INTO child VALUES (1, 7);
      """)
    try await expectRefused(source, .constraint)
  }

  @Test("of a database with a log mode but no log changes nothing beside it, also where nothing can be written")
  func logMode() async throws {
    let source = try source(SourceDatabase.shop)
    var content = try Data(contentsOf: URL(fileURLWithPath: source.path))
    content[18] = 2
    content[19] = 2
    try content.write(to: URL(fileURLWithPath: source.path))
    let names = try names()
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.count == 7)
    #expect(try self.names() == names)
    #expect(try Data(contentsOf: URL(fileURLWithPath: source.path)) == content)
  }

  @Test("is not made where there is a replica that holds anything")
  func exists() async throws {
    let source = try source(SourceDatabase.shop)
    let first = try await Replica.open(at: path, models: SourceCustomer.self)
    try await first.write { try $0.insert(SourceCustomer(id: 1, name: "kept")) }
    await first.close()
    #expect(await code { try await Replica.make(at: path, from: source, reader: .tested) } == .replicaExists)
    let replica = try await Replica.open(at: path, models: SourceCustomer.self, configuration: .init(mustExist: true))
    #expect(try await replica.fetch(SourceCustomer.all).map(\.name) == ["kept"])
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
    // What cannot be opened is a replica, too.
    unlink("\(path)/keyring")
    #expect(await code { try await Replica.make(at: path, from: source, reader: .tested) } == .replicaExists)
    #expect(FileManager.default.fileExists(atPath: "\(path)/database"))
  }

  @Test("continues with what a call that was killed left: an empty database, or tables of Godwit's alone")
  func leftover() async throws {
    let source = try source(SourceDatabase.shop)
    await (try Replica.open(at: path, models: [], configuration: .init(name: "before"))).close()
    for _ in 0..<2 {
      // A failure leaves it as it is.
      let missing = DatabaseSource.sqlcipher(at: database, openedBy: .passphrase("x"))
      #expect(await code { try await Replica.make(at: path, from: missing, reader: .tested) } == .plaintextDatabase)
    }
    #expect(try await Replica.make(at: path, from: source, name: "desk", reader: .tested).tables.count == 7)
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    #expect(try await replica.members.list().map(\.name) == ["desk"])
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
    #expect(await code { try await Replica.make(at: path, from: source, reader: .tested) } == .replicaExists)

    try FileManager.default.removeItem(atPath: path)
    _ = try await Replica.identity(at: path)
    try Data().write(to: URL(fileURLWithPath: "\(path)/database"))
    chmod("\(path)/database", 0o600)
    #expect(try await Replica.make(at: path, from: source, reader: .tested).tables.count == 7)
  }

  @Test("is not made of one that joined a group, or has others in its own, though it holds nothing")
  func others() async throws {
    let source = try source(SourceDatabase.shop)
    let first = try await Replica.open(at: folder.file("first"))
    let identity = try await Replica.identity(at: path)
    let invitation = folder.file("invitation")
    try await first.members.invite(identity, name: "second", verification: .trustOnFirstUse, to: .file(invitation))
    await first.close()
    #expect(
      await code { try await Replica.make(at: folder.file("first"), from: source, reader: .tested) } == .replicaExists)
    await (try Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
    unlink("\(path)/database")
    let keyring = try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring"))
    #expect(await code { try await Replica.make(at: path, from: source, reader: .tested) } == .noReplica)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring")) == keyring)
  }

  @Test("is not made in the place of a database that is away for now, and leaves its keyring as it is")
  func away() async throws {
    let source = try source(SourceDatabase.shop)
    let first = try await Replica.open(at: path)
    let group = first.group
    await first.close()
    for name in ["database", "database-wal", "database-shm"] {
      try? FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: folder.file("away-\(name)"))
    }
    let keyring = try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring"))
    #expect(await code { try await Replica.make(at: path, from: source, reader: .tested) } == .noReplica)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/keyring")) == keyring)
    for name in ["database", "database-wal", "database-shm"] {
      try? FileManager.default.moveItem(atPath: folder.file("away-\(name)"), toPath: "\(path)/\(name)")
    }
    let again = try await Replica.open(at: path)
    #expect(again.group == group)
    await again.close()
  }

  /// Does something and waits for it, where nothing can be awaited.
  private func wait(for body: @escaping @Sendable () async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do { try await body() } catch { Issue.record("\(error)") }
      done.signal()
    }
    done.wait()
  }

  @Test("fails without harm to a replica that was made while its secret was asked for", arguments: [true, false])
  func madeMeanwhile(isEmpty: Bool) async throws {
    _ = try source(SourceDatabase.shop)
    var content = try Data(contentsOf: URL(fileURLWithPath: database))
    content[0] ^= 1
    try content.write(to: URL(fileURLWithPath: database))
    let path = path
    let secret = SlotSecret.passphrase {
      wait {
        let replica = try await Replica.open(at: path, models: isEmpty ? [] : [SourceCustomer.self])
        if !isEmpty { try await replica.write { try $0.insert(SourceCustomer(id: 1, name: "kept")) } }
        await replica.close()
      }
      return Array("wrong".utf8)
    }
    let error = await failure {
      try await Replica.make(at: path, from: .sqlcipher(at: database, openedBy: secret), reader: .tested)
    }
    #expect(error?.code == (isEmpty ? .wrongKey : .replicaExists), "\(String(describing: error))")
    let replica = try await Replica.open(
      at: path, models: isEmpty ? [] : [SourceCustomer.self], configuration: .init(mustExist: true))
    if !isEmpty { #expect(try await replica.fetch(SourceCustomer.all).map(\.name) == ["kept"]) }
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }

  @Test("that cannot be made leaves an identity that was there as it was, and lock files")
  func identityStays() async throws {
    let identity = try await Replica.identity(at: path)
    let location = KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
    let dangling = try source(
      """
      PRAGMA foreign_keys=OFF; CREATE TABLE parent (id INTEGER PRIMARY KEY);
      CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent);
      INSERT INTO child VALUES (1, 7);
      """)
    #expect(await code { try await Replica.make(at: path, from: dangling, reader: .tested) } == .constraint)
    let contents = try Keyring.open(at: location)
    #expect(contents.group == nil && contents.databaseSalt == nil && contents.members.isEmpty)
    let files = try FileManager.default.contentsOfDirectory(atPath: path)
    let locks = ["keyring.lock", "keyring.anchor.lock", "lock", "rekey.lock", "database-gate", "machine.key.lock"]
    #expect(Set(files).isSubset(of: locks + ["keyring", "machine.key"]), "\(files)")
    unlink(database)
    _ = try await Replica.make(at: path, from: try source(SourceDatabase.shop), reader: .tested)
    #expect(try await Replica.identity(at: path) == identity)
  }

  @Test("has hybrid keys when that is asked for")
  func postQuantum() async throws {
    _ = try await Replica.make(at: path, from: try source(SourceDatabase.shop), postQuantum: true, reader: .tested)
    #expect(try await Replica.identity(at: path).isPostQuantum)
    let replica = try await Replica.open(at: path, configuration: .init(isPostQuantum: true))
    #expect(try await replica.members.list().count == 1)
    await replica.close()
  }

  /// What another program does to its database meanwhile.
  enum Change: CaseIterable { case writes, exchanges, logs }

  @Test("is not made of a database that is changed while it is read", arguments: Change.allCases)
  func changedMeanwhile(change: Change) async throws {
    let source = try source(SourceDatabase.shop)
    var content = try Data(contentsOf: URL(fileURLWithPath: source.path))
    // A log mode, so that no lock keeps anybody from it.
    content[18] = 2
    content[19] = 2
    try content.write(to: URL(fileURLWithPath: source.path))
    let changed = content
    let path = path
    let database = database
    let copy = try TestFolder.plaintext("copy.db", in: folder.path)
    let isDone = Mutex(false)
    let error = await failure {
      try await Replica.make(at: path, from: source, reader: .tested) { fraction in
        guard fraction > 0.5, fraction < 1, !isDone.withLock({ $0 }) else { return }
        isDone.withLock { $0 = true }
        do {
          switch change {
          case .writes:
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: database))
            try file.write(contentsOf: changed.prefix(100))
            try file.close()
          case .exchanges:
            try changed.write(to: URL(fileURLWithPath: copy))
            rename(copy, database)
          case .logs: try Data([1]).write(to: URL(fileURLWithPath: database + "-wal"))
          }
        } catch { Issue.record("\(error)") }
      }
    }
    #expect(isDone.withLock { $0 })
    #expect(error?.code == .busy, "\(String(describing: error))")
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
  }

  @Test("has one state of a database whose program still writes: that program finds it locked")
  func oneState() async throws {
    let source = try source(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY);
      INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);
      """)
    let database = database
    let refused = Mutex(0)
    let report = try await Replica.make(at: path, from: source, reader: .tested) { fraction in
      guard fraction > 0.5, fraction < 1 else { return }
      do {
        let writer = try Connection(plaintext: database, mode: .copy)
        try writer.execute("PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE")
        try writer.execute("INSERT INTO a VALUES (2); INSERT INTO b VALUES (2)")
      } catch {
        refused.withLock { $0 += 1 }
      }
    }
    #expect(refused.withLock { $0 } > 0)
    #expect(report.tables.map(\.rows) == [1, 1])
  }

  @Test("of a log that lies beside the file, and not beside a link to it, is not made either")
  func linkedLog() async throws {
    let source = try source(SourceDatabase.shop)
    try Data([1]).write(to: URL(fileURLWithPath: "\(source.path)-wal"))
    let link = folder.file("link.db")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: source.path)
    for path in [source.path, link] { try await expectRefused(.plaintext(at: path), .busy) }
    try FileManager.default.removeItem(atPath: "\(source.path)-wal")
    #expect(try await Replica.make(at: path, from: .plaintext(at: link), reader: .tested).tables.count == 7)
  }

  @Test("is made where a journal is kept that has nothing to roll back, and not where it has")
  func keptJournal() async throws {
    let source = try source(SourceDatabase.shop)
    let journal = "\(source.path)-journal"
    try Data([0xD9, 0xD5, 0x05, 0xF9]).write(to: URL(fileURLWithPath: journal))
    try await expectRefused(source, .busy)
    try Data(count: 512).write(to: URL(fileURLWithPath: journal))
    #expect(try await Replica.make(at: path, from: source, reader: .tested).tables.count == 7)
  }

  @Test(
    "is made of a database with collations and functions of its own program's, without its indexes",
    arguments: [("NOCASE", "LOCALIZED"), ("abs(x)", "own(x)")])
  func ownCode(known: String, own: String) async throws {
    let index = known == "NOCASE" ? "x COLLATE NOCASE" : "abs(x)"
    let source = try source(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, 'b'), (2, 'a'), (3, 'C');
      CREATE INDEX by_x ON t (\(index)); PRAGMA writable_schema = ON;
      UPDATE sqlite_master SET sql = replace(sql, '\(known)', '\(own)') WHERE name = 'by_x';
      """)
    let report = try await Replica.make(at: path, from: source, reader: .tested)
    #expect(report.tables.map(\.rows) == [3] && report.leftOut.map(\.name) == ["by_x"])
  }

  @Test("is not made of a table too wide for one statement whose key is NULL in some rows")
  func wideWithoutKey() async throws {
    let columns = (0..<1_100).map { "c\($0)" }.joined(separator: ", ")
    let source = try source(
      "CREATE TABLE w (id TEXT PRIMARY KEY, \(columns)); INSERT INTO w (c1099) VALUES ('first'), ('second')")
    try await expectRefused(source, .limitExceeded)
  }
}
