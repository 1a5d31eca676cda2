import Foundation
import GodwitStorage
import TestFolders
import Testing

@testable import Godwit
@testable import GodwitEngine

/// A process that does not read, but what a database made on purpose might have it do.
private struct FakeReader {
  private let commands: String
  private let note: String

  init(_ commands: String, in folder: TemporaryFolder) {
    self.commands = commands
    note = folder.file("fake-reader.process")
  }

  var reader: DatabaseSource.Reader { reader(waiting: 1_500) }

  func reader(waiting milliseconds: Int) -> DatabaseSource.Reader {
    .child(
      DatabaseSource.Reader.Program(path: "/bin/sh", arguments: ["-c", "echo $$ > '\(note)'; \(commands)"]) {
        byteCount in
        var limits = ReaderLimits(byteCount: byteCount)
        limits.waitMilliseconds = milliseconds
        return limits
      })
  }

  /// Whether it was started and is no more, not even to be waited for.
  var hasEnded: Bool {
    guard let text = try? String(contentsOfFile: note, encoding: .utf8),
      let process = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))
    else { return false }
    return kill(process, 0) == -1 && errno == ESRCH
  }
}

@Suite("The process that reads another program's database", .timeLimit(.minutes(2)))
struct ReadingProcessTests {
  private let folder: TemporaryFolder
  private let database: String
  private var path: String { folder.file("replica") }

  init() throws {
    folder = try TemporaryFolder()
    database = try TestFolder.plaintext("source.db", in: folder.path)
  }

  private func shop() throws -> DatabaseSource {
    .plaintext(at: try SourceDatabase(database, SourceDatabase.shop).path)
  }

  private func expectNothingMade(at location: SourceLocation = #_sourceLocation) {
    for name in ["database", "database.old", "keyring"] {
      #expect(!FileManager.default.fileExists(atPath: "\(path)/\(name)"), "\(name)", sourceLocation: location)
    }
  }

  @Test("is started only by a program that is prepared for it, which is said")
  func unprepared() async throws {
    let source = try shop()
    let failure = await error { _ = try await Replica.make(at: path, from: source) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.hint?.contains("serveIfAsked()") == true && failure?.hint?.contains("thisProcess") == true)
    expectNothingMade()
    // This program was not started to read, so it proceeds; what runs the tests starts nothing of its own all the same.
    #expect(throws: GodwitError.self) { try DatabaseSource.Reader.child.program() }
  }

  @Test(
    "makes a typed error of each way it can end, and leaves neither a replica nor itself behind",
    arguments: [
      ("kill -SEGV $$", "ended with signal 11", GodwitError.Code.damagedDatabase),
      ("kill -XCPU $$", "seconds of the processor", .limitExceeded),
      ("kill -KILL $$", "ended with signal 9", .damagedDatabase),
      ("exit 0", "ended early", .damagedDatabase),
      ("exec sleep 600", "takes longer than", .limitExceeded),
      ("exec 0>&-; exec sleep 600", "ended with signal 9", .damagedDatabase),
      ("printf 'no frame at all' >&0; exec sleep 600", "gives no rows", .damagedDatabase),
      // More than a frame may have, and a frame that does not come.
      (#"printf '\020\377\377\377\377' >&0; exec sleep 600"#, "at once", .limitExceeded),
      (#"printf '\020\000\000\001\000half' >&0; exec sleep 600"#, "takes longer than", .limitExceeded),
      // That it is open, then what is no row; then an error of the replica's, which is none of its to name.
      (
        #"printf '\020\000\000\000\000\021\000\000\000\002\377\377' >&0; exec sleep 600"#, "gives no rows",
        .damagedDatabase
      ),
      (
        #"printf '\020\000\000\000\000\023\000\000\000\014\005wrong\004text\000' >&0; exec sleep 600"#, "text",
        .damagedDatabase
      ),
    ])
  func ends(commands: String, message: String, code: GodwitError.Code) async throws {
    let source = try shop()
    let fake = FakeReader(commands, in: folder)
    let failure = await error { _ = try await Replica.make(at: path, from: source, reader: fake.reader) }
    #expect(failure?.code == code && failure?.message.contains(message) == true, "\(String(describing: failure))")
    #expect(fake.hasEnded)
    expectNothingMade()
  }

  @Test("ends with the task that is cancelled")
  func cancelled() async throws {
    let source = try shop()
    // It says that the database is open, and no more.
    let fake = FakeReader(#"printf '\020\000\000\000\000' >&0; exec sleep 600"#, in: folder)
    let reader = fake.reader(waiting: 600_000)
    let path = path
    let task = Task { try await Replica.make(at: path, from: source, reader: reader) }
    while !FileManager.default.fileExists(atPath: "\(path)/database") { await Task.yield() }
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(fake.hasEnded)
    expectNothingMade()
  }

  @Test(
    "that is given less memory or fewer steps than the database wants gives that as its error",
    arguments: [true, false])
  func limits(isMemory: Bool) async throws {
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n"
    let source = DatabaseSource.plaintext(
      at: try SourceDatabase(
        database,
        """
        CREATE TABLE big (id INTEGER PRIMARY KEY, content BLOB); INSERT INTO big VALUES (0, zeroblob(50000000));
        INSERT INTO big (id) \(rows)
        """
      ).path)
    let reader = DatabaseSource.Reader.child(
      DatabaseSource.Reader.Program(path: KillSubject.path) { byteCount in
        var limits = ReaderLimits(byteCount: byteCount)
        if isMemory { limits.memoryByteCount = 32 << 20 } else { limits.steps = 2_000 }
        return limits
      })
    let failure = await error { _ = try await Replica.make(at: path, from: source, reader: reader) }
    let codes: [GodwitError.Code] = isMemory ? [.limitExceeded, .damagedDatabase] : [.limitExceeded]
    #expect(failure.map { codes.contains($0.code) } == true, "\(String(describing: failure))")
    expectNothingMade()
    _ = try await Replica.make(at: path, from: source, reader: .tested)
  }

  @Test(
    "gives text of a database in UTF-16, and text that is not UTF-8, as this process reads them",
    arguments: ["UTF-8", "UTF-16"])
  func encodings(encoding: String) async throws {
    let source = DatabaseSource.plaintext(
      at: try SourceDatabase(
        database,
        """
        PRAGMA encoding='\(encoding)'; CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
        INSERT INTO note VALUES (1, 'größe'), (2, ''), (3, CAST(x'61FF62FF' AS TEXT)), (4, char(0x1F600)), (5, NULL),
          (6, 1e999), (7, -9223372036854775808), (8, x'');
        """
      ).path)
    var found: [[[Value]]] = []
    for reader in [DatabaseSource.Reader.tested, .thisProcess] {
      let path = folder.file("replica-\(found.count)")
      _ = try await Replica.make(at: path, from: source, reader: reader)
      let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
      found.append(try await replica.rows("SELECT id, typeof(text), hex(text) FROM note ORDER BY id").map(\.values))
      await replica.close()
    }
    #expect(found[0] == found[1] && found[0].count == 8)
    #expect(found[0][0] == [.integer(1), .text("text"), .text("6772C3B6C39F65")])
  }
}

extension DatabaseSource.Reader {
  /// A process that reads. The one that runs the tests cannot be started anew for it: its `main` is not ours.
  static let tested = DatabaseSource.Reader.child(Program(path: KillSubject.path))
}
