import Foundation
import Godwit
import Testing

@Suite("A database that is not what it should be")
struct BadDatabaseTests {
  private let group: TestGroup
  private var path: String { group[0].path }
  private var database: String { "\(path)/database" }

  init() async throws {
    group = try await TestGroup(1)
    try await group[0].write { transaction in
      for number in 0..<400 {
        try transaction.insert(Note(title: "note \(number)", body: String(repeating: "x", count: 90)))
      }
    }
    try await group[0].closeIntoOneFile()
  }

  private func expectRefused(
    _ expected: GodwitError.Code, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: database))
    let error = await failure { try await TestGroup.open(path) }
    #expect(error?.code == expected, "\(String(describing: error))", sourceLocation: location)
    #expect(error?.hint != nil, sourceLocation: location)
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before, sourceLocation: location)
  }

  private func overwrite(at offset: Int, _ bytes: [UInt8]) throws {
    var content = try Data(contentsOf: URL(fileURLWithPath: database))
    content.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    try write(content)
  }

  private func write(_ content: Data) throws {
    let handle = try #require(FileHandle(forWritingAtPath: database))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: content)
    try handle.close()
  }

  @Test("is a wrong key when it belongs to another replica")
  func wrongKey() async throws {
    let other = try await TestGroup(1)
    try await other[0].closeIntoOneFile()
    try write(try Data(contentsOf: URL(fileURLWithPath: "\(other[0].path)/database")))
    try await expectRefused(.wrongKey)
  }

  @Test("is refused when it is not encrypted")
  func plaintext() async throws {
    try write(Data("SQLite format 3\0".utf8) + Data(repeating: 0, count: 4_080))
    try await expectRefused(.plaintextDatabase)
  }

  @Test("is no database when its size is no whole number of pages", arguments: [1, 15, 100, 511, 4_097, 8_000])
  func oddSize(size: Int) async throws {
    try write(Data(repeating: 0x5A, count: size))
    try await expectRefused(.notADatabase)
  }

  @Test("is refused when it holds anything else", arguments: [512, 4_096, 40_960])
  func randomContent(size: Int) async throws {
    var random = SeededGenerator(seed: 3)
    try write(Data((0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }))
    let error = await failure { try await TestGroup.open(path) }
    #expect(error.map { [.wrongKey, .notADatabase].contains($0.code) } == true)
    #expect(error?.hint != nil)
  }

  @Test("is damaged when its first page is", arguments: [16, 100, 2_000, 4_060])
  func firstPage(offset: Int) async throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: database))
    try overwrite(at: offset, [content[offset] ^ 1])
    try await expectRefused(.damagedDatabase)
  }

  @Test("is found damaged wherever a page is, by opening or by verify")
  func everyPage() async throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: database))
    let pages = content.count / 4_096
    var found = 0
    var others: [String] = []
    for page in 1..<pages {
      var damaged = content
      damaged[page * 4_096 + 77] ^= 0x80
      try write(damaged)
      var opened: Replica?
      let error = await failure {
        let replica = try await TestGroup.open(path)
        defer { opened = replica }
        if !(try await replica.maintenance.verify()).isSound { found += 1 }
      }
      await opened?.close()
      guard let error else { continue }
      found += 1
      if error.code != .damagedDatabase { others.append("page \(page) of \(pages): \(error)") }
    }
    #expect(others == [])
    // Pages on the free list hold nothing and are not read.
    #expect(found > pages - 8)
  }

  @Test("is damaged when a read meets a page that is")
  func readMeetsDamage() async throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: database))
    // Every page but those of the schema.
    try #require(content.count > 20 * 4_096)
    for page in 12..<content.count / 4_096 { try overwrite(at: page * 4_096 + 9, [content[page * 4_096 + 9] ^ 4]) }
    let error = await failure {
      let replica = try await TestGroup.open(path)
      _ = try await replica.fetch(Note.all)
      _ = try await replica.maintenance.digest()
    }
    #expect(error?.code == .damagedDatabase, "\(String(describing: error))")
    #expect(error?.hint != nil)
  }

  @Test("is refused when its end is missing")
  func cutShort() async throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: database))
    try write(content.prefix(content.count / 8_192 * 4_096))
    let error = await failure {
      let replica = try await TestGroup.open(path)
      let report = try await replica.maintenance.verify()
      #expect(!report.isSound)
    }
    #expect(error == nil || error?.code == .damagedDatabase, "\(String(describing: error))")
  }

  @Test("is missed when it was there before", arguments: ["database", "everything"])
  func lost(what: String) async throws {
    unlink(database)
    if what == "everything" {
      for suffix in ["-wal", "-shm"] { unlink(database + suffix) }
    }
    let error = await failure { try await TestGroup.open(path) }
    #expect(error?.code == .noReplica)
    #expect(error?.hint != nil)
    #expect(!FileManager.default.fileExists(atPath: database))
  }

  @Test("cannot be opened without its keyring")
  func missingKeyring() async throws {
    unlink("\(path)/keyring")
    try await expectRefused(.missingKeyring)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/keyring"))
  }

  @Test("cannot be opened with another machine's key, or without one")
  func otherMachineKey() async throws {
    let other = try await TestGroup(1)
    let key = try Data(contentsOf: URL(fileURLWithPath: "\(other[0].path)/machine.key"))
    let handle = try #require(FileHandle(forWritingAtPath: "\(path)/machine.key"))
    try handle.write(contentsOf: key)
    try handle.close()
    try await expectRefused(.noKeyFits)
    unlink("\(path)/machine.key")
    try await expectRefused(.noKeyFits)
    #expect(!FileManager.default.fileExists(atPath: "\(path)/machine.key"))
  }

  @Test("cannot be opened with a damaged keyring", arguments: [0, 9, 40, 200])
  func damagedKeyring(offset: Int) async throws {
    let file = "\(path)/keyring"
    var content = try Data(contentsOf: URL(fileURLWithPath: file))
    content[offset] ^= 1
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.write(contentsOf: content)
    try handle.close()
    let error = await failure { try await TestGroup.open(path) }
    #expect(error.map { [.damagedKeyring, .noKeyFits, .unsupportedVersion].contains($0.code) } == true)
    #expect(error?.hint != nil)
  }
}

@Suite("A sync file that is not what it should be")
struct BadSyncFileTests {
  private let group: TestGroup
  private let file: String

  /// The first replica's file of one small transaction, for the second.
  init() async throws {
    group = try await TestGroup(2)
    file = group.folder.file("changes")
    try await group[0].write { try $0.insert(Note(title: "small")) }
    _ = try await group[0].export(to: .file(file))
  }

  /// What is wrong with the refusal of a file: it must have one of the codes and a hint, and change nothing.
  private func faults(
    of path: String, _ codes: Set<GodwitError.Code>, by receiver: Int = 1, as name: String = "the file"
  ) async throws -> [String] {
    let before = try await (group[receiver].maintenance.digest(), group[receiver].status())
    let error = await failure { try await group[receiver].import(from: .file(path)) }
    let after = try await (group[receiver].maintenance.digest(), group[receiver].status())
    var faults: [String] = []
    if error.map({ codes.contains($0.code) }) != true { faults.append("\(name): \(String(describing: error))") }
    if let error, error.hint == nil { faults.append("no hint: \(error)") }
    if after.0 != before.0 || after.1.applied.map(\.sequence) != before.1.applied.map(\.sequence)
      || after.1.staged != before.1.staged
    {
      faults.append("\(name): the replica has changed")
    }
    return faults
  }

  private func expectRefused(
    _ path: String, _ codes: Set<GodwitError.Code>, by receiver: Int = 1, at location: SourceLocation = #_sourceLocation
  ) async throws {
    #expect(try await faults(of: path, codes, by: receiver) == [], sourceLocation: location)
  }

  private static let broken: Set<GodwitError.Code> = [
    .corruptFile, .truncatedFile, .notARecipient, .unsupportedVersion, .invalidSignature, .limitExceeded,
  ]

  @Test("is refused at every length but its own")
  func everyLength() async throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: file))
    let path = group.folder.file("short")
    var found: [String] = []
    for length in 0..<content.count {
      try content.prefix(length).write(to: URL(fileURLWithPath: path))
      found += try await faults(
        of: path, [.truncatedFile, .corruptFile, .notARecipient], as: "\(length) of \(content.count) bytes")
    }
    #expect(Set(found) == [])
    #expect(try await group[1].import(from: .file(file)).applied.transactions == 1)
  }

  @Test("is refused with any byte changed")
  func everyByte() async throws {
    let content = try Data(contentsOf: URL(fileURLWithPath: file))
    let path = group.folder.file("changed")
    var found: [String] = []
    for position in content.indices {
      var changed = content
      changed[position] ^= UInt8(1) << (position % 8)
      try changed.write(to: URL(fileURLWithPath: path))
      found += try await faults(of: path, Self.broken, as: "byte \(position) of \(content.count)")
    }
    #expect(Set(found) == [])
    #expect(try await group[1].import(from: .file(file)).applied.transactions == 1)
  }

  @Test("is refused with bytes after its end", arguments: [1, 16, 70_000])
  func appended(count: Int) async throws {
    let path = group.folder.file("longer")
    try (Data(contentsOf: URL(fileURLWithPath: file)) + Data(repeating: 0, count: count))
      .write(to: URL(fileURLWithPath: path))
    try await expectRefused(path, [.corruptFile])
  }

  @Test("is refused with another one behind it")
  func joined() async throws {
    let path = group.folder.file("joined")
    let content = try Data(contentsOf: URL(fileURLWithPath: file))
    try (content + content).write(to: URL(fileURLWithPath: path))
    try await expectRefused(path, [.corruptFile])
  }

  @Test("is refused when it is for somebody else")
  func forSomebodyElse() async throws {
    let other = try await TestGroup(2)
    try await other[0].write { try $0.insert(Note()) }
    let path = other.folder.file("theirs")
    _ = try await other[0].export(to: .file(path))
    try await expectRefused(path, [.notARecipient])
  }

  @Test("is refused when it belongs to another group")
  func otherGroup() async throws {
    let other = try await TestGroup(1)
    try await other[0].write { try $0.insert(Note()) }
    try await other[0].members.invite(
      group[1].identity, name: "guest", verification: .trustOnFirstUse, to: .file(other.folder.file("invitation")))
    let path = other.folder.file("theirs")
    _ = try await other[0].export(to: .file(path))
    try await expectRefused(path, [.otherGroup])
  }

  @Test("is refused when its sender is no member any more")
  func strangers() async throws {
    try await group.send(from: 0, to: 1)
    try await group[1].write { try $0.insert(Note()) }
    try await group[0].members.remove("replica-1")
    let path = group.folder.file("theirs")
    _ = try await group[1].export(to: .file(path))
    try await expectRefused(path, [.unknownSender], by: 0)
  }

  @Test("is refused when it is something else altogether", arguments: ["", "hello", "age-encryption.org/v1\n"])
  func somethingElse(text: String) async throws {
    let path = group.folder.file("else")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try await expectRefused(path, [.corruptFile, .truncatedFile])
  }

  @Test("is an access error when it is missing or a folder")
  func missing() async throws {
    #expect(await code { try await group[1].import(from: .file(group.folder.file("nowhere"))) } == .fileAccess)
    #expect(await code { try await group[1].import(from: .file(group.folder.path)) } == .fileAccess)
  }
}
