import Foundation
import Godwit
import TestFolders
import Testing

/// Commands that replace files of a replica's, killed at every call that gives names, takes them or makes them last,
/// and at many that write.
@Suite("Commands, killed anywhere", .seesSystemCalls, .timeLimit(.minutes(15)))
struct KilledCommandsTests {
  private static let names = ["rename", "unlink", "fsync", "fdatasync"]
  /// What a replica's folder has when nothing is under way.
  private static let files: Set = [
    "anchor.lock", "database", "database-gate", "database-shm", "database-wal", "keyring", "keyring.anchor",
    "keyring.anchor.lock", "keyring.lock", "lock", "rekey.lock",
  ]

  private let desk: Machine

  init() async throws {
    desk = try Machine("desk")
    try #require(try desk.godwit("init", "--name", "desk").status == 0)
    try await desk.write { transaction in
      for number in 0..<200 { try transaction.insert(Note(title: MarkerScan.marker, views: number)) }
    }
  }

  /// Every page and chain; and nothing can be read in any file.
  private func expectSound(_ machine: Machine, _ place: String) throws {
    let outcome = try machine.godwit("verify")
    #expect(outcome.status == 0, "\(place): \(outcome.text)\(outcome.error)")
    let plain = try filesWithMarker(machine)
    #expect(plain.isEmpty, "\(place): \(plain)")
  }

  /// How many notes another process finds; nil when it cannot look.
  private func noteCount(_ machine: Machine) throws -> Int? {
    try machine.godwit("query", "SELECT count(*) AS n FROM note", "--json").objects().first?["n"] as? Int
  }

  /// Found by another process: one that closes a file of a database which it has open itself loses the locks on it
  /// (sqlite.org, "How To Corrupt An SQLite Database File", 2.2).
  private func filesWithMarker(_ machine: Machine) throws -> String {
    let grep = Process()
    let output = Pipe()
    grep.executableURL = URL(fileURLWithPath: "/bin/grep")
    grep.arguments = ["-rlaF", "--exclude-dir=\(MarkerScan.allowedFolder)", MarkerScan.marker, machine.folder]
    grep.standardOutput = output
    try grep.run()
    let found = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    grep.waitUntilExit()
    try #require(grep.terminationStatus <= 1 || !found.isEmpty)
    return found
  }

  @Test("a rekey leaves the old database or the new one, to another process that has it open all the time, too")
  func rekey() async throws {
    let holder = try await Replica.open(at: desk.replica, models: Note.self, configuration: .init(key: desk.keys))
    var count = 200
    for (calls, step) in [(Self.names, 1), (["pwrite64"], 40)] {
      try await desk.killEverywhere(["rekey"], calls: calls, step: step) { place, _ in
        #expect(try await holder.count(Note.all) == count, "\(place)")
        try await holder.write { try $0.insert(Note(title: MarkerScan.marker)) }
        count += 1
        try expectSound(desk, place)
        let left = try Set(FileManager.default.contentsOfDirectory(atPath: desk.replica)).subtracting(Self.files)
        #expect(left.allSatisfy { $0.hasPrefix("keyring.") && $0.hasSuffix(".tmp") }, "\(place): \(left)")
      }
    }
    #expect(count > 215)
    await holder.close()
    try #require(try desk.godwit("rekey").status == 0)
    let left = try Set(FileManager.default.contentsOfDirectory(atPath: desk.replica)).subtracting(Self.files)
    #expect(left == [])
    #expect(try noteCount(desk) == count)
  }

  @Test("a rekey removes the old file's log only once the new file's name lasts")
  func order() throws {
    let lines = try desk.lines(of: ["rekey"], tracing: "rename,fsync,unlink")
    let renamed = try #require(lines.firstIndex { $0.contains("rename(") && $0.contains("/database.new\"") })
    let rest = lines[renamed...]
    let synchronized = try #require(rest.firstIndex { $0.contains("fsync(") && $0.contains("/.godwit>") })
    let unlinked = try #require(rest.firstIndex { $0.contains("unlink(") && $0.contains("/database-wal\"") })
    #expect(synchronized < unlinked, "\(rest.joined(separator: "\n"))")
  }

  @Test(
    "a change of the keyring is made or not",
    arguments: [["keyring", "rotate"], ["identity", "rotate"], ["keyring", "add", "passphrase:phrase"]])
  func keyring(command: [String]) async throws {
    try desk.write(Data("correct horse battery".utf8), to: "phrase")
    chmod(desk.path("phrase"), 0o600)
    var killCount = 0
    try await desk.killEverywhere(command, calls: Self.names) { place, isKilled in
      if isKilled { killCount += 1 }
      let slots = try desk.godwit("keyring", "list", "--json").objects().count
      #expect(slots == 1 || command[1] == "add" && slots == 2, "\(place)")
      if slots == 2 { try #require(try desk.godwit("keyring", "remove", "2", "--force").status == 0) }
      #expect(try desk.godwit("keyring", "test").status == 0, "\(place)")
      #expect(try noteCount(desk) == 200, "\(place)")
    }
    // Before the file, its rename and its folder are made to last.
    #expect(killCount >= 3)
    try #require(try desk.godwit("keyring", "rotate").status == 0)
    let left = try Set(FileManager.default.contentsOfDirectory(atPath: desk.replica)).subtracting(Self.files)
    #expect(left == [])
  }

  @Test("a replica is made of another program's database, and when that is killed by the same command again")
  func conversion() async throws {
    let source = try TestFolder.plaintext("source.db", in: desk.folder)
    try #require(try desk.godwit("export", "--plaintext", source).status == 0)
    let made = try Machine("made")
    let before = try Data(contentsOf: URL(fileURLWithPath: source))
    var (wholeCount, againCount) = (0, 0)
    func prepare() throws {
      for folder in [".godwit", "config"] { try? FileManager.default.removeItem(atPath: made.path(folder)) }
    }
    for (calls, step) in [(Self.names, 1), (["pwrite64"], 7)] {
      try await made.killEverywhere(
        ["init", "--from", source], calls: calls, step: step, prepare: prepare
      ) { place, isKilled in
        #expect(try filesWithMarker(made) == "", "\(place)")
        // With all its rows, or none: then nothing is in the way of making it.
        let again = try made.godwit("init", "--from", source)
        if again.status == 0 {
          #expect(isKilled, "\(place)")
          againCount += 1
        } else {
          #expect(again.status == 1 && again.error.contains("there is a replica"), "\(place): \(again.error)")
          wholeCount += 1
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: source)) == before, "\(place)")
        #expect(try noteCount(made) == 200, "\(place)")
        try expectSound(made, place)
      }
    }
    #expect(wholeCount >= 2 && againCount >= 10)
  }
}
