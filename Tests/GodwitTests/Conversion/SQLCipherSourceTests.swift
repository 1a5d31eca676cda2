import Foundation
import GodwitCrypto
import GodwitKeys
import GodwitStorage
import Testing

@testable import Godwit
@testable import GodwitEngine

/// Databases that SQLCipher 4 itself has made. GODWIT_SQLCIPHER4_PYTHON names a Python with the `sqlcipher3` package.
@Suite(
  "A replica of a SQLCipher database", .timeLimit(.minutes(2)),
  .enabled(
    if: ProcessInfo.processInfo.environment["GODWIT_SQLCIPHER4_PYTHON"] != nil,
    "GODWIT_SQLCIPHER4_PYTHON names no Python with sqlcipher3"))
struct SQLCipherSourceTests {
  private let folder: TemporaryFolder
  private var database: String { folder.file("vault.db") }
  private var path: String { folder.file("replica") }
  private static let rawKey = "x'" + String(repeating: "5A", count: 32) + "'"
  private static let script = """
    import sys, sqlcipher3
    connection = sqlcipher3.connect(sys.argv[1], isolation_level=None)
    connection.execute('PRAGMA key="%s"' % sys.argv[2])
    for setting in sys.argv[3:]: connection.execute("PRAGMA " + setting)
    connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body BLOB)")
    for number in range(500):
      connection.execute("INSERT INTO note VALUES (?, ?, ?)", (number, "plaintext-marker-5f1d", b"%d" % number * 50))
    connection.execute("CREATE INDEX by_title ON note (title)")
    """

  init() throws { folder = try TemporaryFolder() }

  private func makeDatabase(_ secret: String, _ settings: String...) throws {
    let process = Process()
    process.executableURL = URL(
      fileURLWithPath: try #require(ProcessInfo.processInfo.environment["GODWIT_SQLCIPHER4_PYTHON"]))
    process.arguments = ["-c", Self.script, database, secret] + settings
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  private func expectTaken(_ secret: SlotSecret, at location: SourceLocation = #_sourceLocation) async throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: database))
    let report = try await Replica.make(at: path, from: .sqlcipher(at: database, openedBy: secret), reader: .tested)
    #expect(report.tables.map(\.rows) == [500], sourceLocation: location)
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before, sourceLocation: location)
    let replica = try await Replica.open(at: path, configuration: .init(mustExist: true))
    let last = try await replica.rows("SELECT title, length(body) FROM note WHERE id = 499").first?.values
    #expect(last == [.text("plaintext-marker-5f1d"), .integer(150)], sourceLocation: location)
    #expect(try await replica.maintenance.verify().isSound, sourceLocation: location)
    await replica.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("database") }
    #expect(Set(left) == ["database", "database-gate"], sourceLocation: location)
  }

  @Test("of version 4, by a passphrase in a file or on a descriptor")
  func version4() async throws {
    try makeDatabase("correct horse")
    let file = folder.file("passphrase")
    try Data("correct horse\n".utf8).write(to: URL(fileURLWithPath: file))
    chmod(file, 0o600)
    try await expectTaken(.passphrase(file: file))
    try FileManager.default.removeItem(atPath: path)
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data("correct horse\n".utf8))
    try pipe.fileHandleForWriting.close()
    try await expectTaken(.passphrase(file: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"))
  }

  @Test("of version 4, by a key, and with a log mode")
  func rawKey() async throws {
    try makeDatabase(Self.rawKey, "journal_mode=WAL")
    try await expectTaken(.passphrase(Self.rawKey))
  }

  @Test("of version 3, with its page size and with another", arguments: [1_024, 4_096])
  func version3(pageSize: Int) async throws {
    try makeDatabase("correct horse", "cipher_compatibility=3", "cipher_page_size=\(pageSize)")
    try await expectTaken(.passphrase("correct horse"))
  }

  @Test("is not made with another passphrase, of other settings, or of a damaged page")
  func refused() async throws {
    try makeDatabase("correct horse")
    func refusal(_ secret: String) async -> GodwitError.Code? {
      await code {
        try await Replica.make(at: path, from: .sqlcipher(at: database, openedBy: .passphrase(secret)), reader: .tested)
      }
    }
    #expect(await refusal("wrong horse") == .wrongKey)
    #expect(await refusal(Self.rawKey) == .wrongKey)
    #expect(
      await code { try await Replica.make(at: path, from: .plaintext(at: database), reader: .tested) } == .notADatabase)
    var content = try Data(contentsOf: URL(fileURLWithPath: database))
    content[5 * 4_096 + 17] ^= 1
    try content.write(to: URL(fileURLWithPath: database))
    #expect(await refusal("correct horse") == .damagedDatabase)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/database"))
    unlink(database)
    try makeDatabase("correct horse", "kdf_iter=4000")
    #expect(await refusal("correct horse") == .wrongKey)
  }

  @Test("leaves no plaintext on disk, neither its own nor the copy's")
  func noPlaintext() async throws {
    try makeDatabase("correct horse")
    try await expectTaken(.passphrase("correct horse"))
    try expectNoPlaintext(in: folder.path)
  }

  @Test("has pages that SQLCipher 3's form and 4's give back alike, whole or not at all")
  func pages() throws {
    let key = SecretBytes(random: 32)
    let salt = [UInt8](repeating: 9, count: 16)
    for format in [SQLCipherFormat.version4, .version3] {
      let pages = try SQLCipherPages(format, key: key, salt: salt)
      for number in [UInt32(1), 2, 70_000] {
        let content = Array("SQLite format 3\0".utf8) + (0..<800).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let page = try pages.seal(content, number: number)
        #expect(page.count == format.pageSize && pages.isWhole(page, number: number))
        #expect(try pages.open(page, number: number).starts(with: content))
        #expect(!pages.isWhole(page, number: number + 1))
        for offset in [16, 500, format.pageSize - 60] {
          var changed = page
          changed[offset] ^= 1
          #expect(!pages.isWhole(changed, number: number))
        }
        #expect(!page.contains(sequence: Array(content[20..<60])))
      }
    }
  }
}

extension [UInt8] {
  fileprivate func contains(sequence: [UInt8]) -> Bool {
    indices.dropLast(sequence.count).contains { self[$0..<$0 + sequence.count].elementsEqual(sequence) }
  }
}
