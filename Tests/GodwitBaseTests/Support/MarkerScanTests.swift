import Foundation
import TestFolders
import Testing

@Suite("The marker scan")
struct MarkerScanTests {
  private let folder = NSTemporaryDirectory() + "godwit-scan-\(UUID().uuidString)"

  private func write(_ text: String, to name: String) throws {
    let path = URL(fileURLWithPath: "\(folder)/\(name)")
    try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: path)
  }

  @Test("finds the marker and what an open database or container begins with, and counts all files")
  func found() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write("sealed", to: "a/one")
    try write("x\(MarkerScan.marker)y", to: "a/b/two")
    try write("SQLite format 3\0\u{10}\0", to: "three-wal")
    try write("....CREATE TABLE godwit_log (", to: "a/four.tmp")
    try write("GODWIT\0\u{1}....", to: "five.godwit-sync")
    let scan = MarkerScan(of: folder)
    #expect(scan.fileCount == 5 && scan.byteCount > 60)
    #expect(
      Set(scan.findings.map { String($0.path.dropFirst(folder.utf8.count + 1)) })
        == ["a/b/two", "three-wal", "a/four.tmp", "five.godwit-sync"])
  }

  @Test("leaves out only folders for what is plaintext on purpose, and writes the rest to its log")
  func told() throws {
    try write(MarkerScan.marker, to: "a/plaintext/export")
    try write(MarkerScan.marker, to: "database")
    let log = "\(folder).log"
    defer { for path in [folder, log] { try? FileManager.default.removeItem(atPath: path) } }
    MarkerScan(of: folder).append(to: log)
    MarkerScan(of: folder + "/none").append(to: log)
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(lines == ["searched 2 42", "found the marker in \(folder)/database", "searched 0 0"])
  }

  @Test(
    "does not leave out what only looks like such a folder",
    arguments: [
      "plaintext", "a/plaintext", "plaintext.db", "plaintext-1/x", "plain/x.db", "container", "a.json", "strace.log",
    ])
  func lookalikes(name: String) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try write(MarkerScan.marker, to: name)
    #expect(MarkerScan(of: folder).findings.map(\.path) == ["\(folder)/\(name)"])
  }

  @Test("has a place for those in every folder")
  func place() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = try TestFolder.plaintext("export", in: folder)
    try Data(MarkerScan.marker.utf8).write(to: URL(fileURLWithPath: path))
    #expect(MarkerScan(of: folder).fileCount == 1 && MarkerScan(of: folder).findings.isEmpty)
  }
}
