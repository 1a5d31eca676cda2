import Foundation
import TestFolders
import Testing

/// `export --plaintext`, killed at every call that writes, gives names or takes them.
@Suite("Leaving without encryption, killed anywhere", .seesSystemCalls, .timeLimit(.minutes(15)))
struct KilledPlaintextTests {
  private static let calls = ["pwrite64", "ftruncate", "unlink", "link", "linkat", "rename", "fsync"]

  private let desk: Machine
  private let folder: String
  private let file: String
  private let leaving: [String]

  init() async throws {
    desk = try Machine("desk")
    folder = desk.path(MarkerScan.allowedFolder)
    file = "\(folder)/leaving.db"
    leaving = ["export", "--plaintext", file]
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try #require(try desk.godwit("init", "--name", "desk").status == 0)
    try await desk.write { transaction in
      for number in 0..<1_500 { try transaction.insert(Note(title: "\(MarkerScan.marker) \(number)", views: number)) }
    }
  }

  private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

  /// A replica is made of the file with all notes.
  private func expectWhole() throws {
    let reader = try Machine("reader")
    try #require(try reader.godwit("init", "--from", file).status == 0)
    #expect(try reader.godwit("query", "SELECT count(*) FROM note", "--json").text.contains("1500"))
  }

  @Test("leaves nothing that can be read, or the whole file under its name")
  func everyCall() async throws {
    var unfinishedCount = 0
    try await desk.killEverywhere(leaving, calls: Self.calls) { place, isKilled in
      for name in files where name != "leaving.db" {
        let content = try desk.read("\(MarkerScan.allowedFolder)/\(name)")
        #expect(content.isEmpty, "killed at \(place): \(content.count) bytes in \(name)")
      }
      let found = MarkerScan(of: desk.folder).findings
      #expect(found.isEmpty, "killed at \(place): \(found)")
      if files.contains("leaving.db") { try expectWhole() } else { unfinishedCount += 1 }
      if !isKilled { #expect(files == ["leaving.db"]) }
      unlink(file)
    }
    // Its pages are written one by one, then moved.
    #expect(unfinishedCount >= 20)
  }

  @Test("works where a file without a name cannot have one; what a kill leaves there the next run removes")
  func withoutLinks() throws {
    let leftover = "\(file).0w5e11264sgsf.tmp"
    let name = "leaving.db.0w5e11264sgsf.tmp"
    try desk.write(Data("of a run that was killed".utf8), to: "\(MarkerScan.allowedFolder)/\(name)")
    try #require(FileManager.default.fileExists(atPath: leftover))
    let outcome = try desk.run(leaving, injecting: "error=ENOENT", into: "linkat")
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(files == ["leaving.db"])
    try expectWhole()
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }
}
