import Foundation
import GodwitBase
import GodwitFiles
import GodwitStorage
import Testing

@Suite("What lies where SQLite keeps a database's log and index", .timeLimit(.minutes(1)))
struct CompanionFileTests {
  private let database: TestDatabase
  private var victim: String { "\(database.folder)/victim" }
  private let content = Data("somebody's text".utf8)

  init() throws {
    database = try TestDatabase()
    try content.write(to: URL(fileURLWithPath: victim))
  }

  @Test("is not written through when it is a link", arguments: ["-wal", "-shm", "-journal"])
  func links(suffix: String) throws {
    for make in [symlink, link] {
      try #require(make(victim, database.path + suffix) == 0)
      for mode in [Connection.Mode.writer, .reader] {
        #expect(code { try database.connect(mode: mode) } == .unsafeFile)
      }
      #expect(FileManager.default.contents(atPath: victim) == content)
      unlink(database.path + suffix)
    }
    _ = try database.connect()
  }

  @Test("is SQLite's own, and opened, when it is a plain file")
  func own() throws {
    let first = try database.connect()
    try first.execute("CREATE TABLE t (a)")
    #expect(FileManager.default.fileExists(atPath: "\(database.path)-wal"))
    #expect(try database.connect(mode: .reader).scalar("SELECT count(*) FROM t") == .integer(0))
    withExtendedLifetime(first) {}
  }

  @Test("locks are no links either", arguments: [symlink, link])
  func locks(make: @Sendable (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32) throws {
    let lock = "\(database.folder)/data/lock"
    try #require(make(victim, lock) == 0 && chmod(victim, 0o644) == 0)
    #expect(code { try LockFile(lock) } == .unsafeFile)
    #expect(code { try ByteLock.take(lock, byte: 0) } == .unsafeFile)
    #expect(try FileManager.default.attributesOfItem(atPath: victim)[.posixPermissions] as? Int == 0o644)
  }
}
