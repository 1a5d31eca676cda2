import Foundation
import TestFolders
import Testing

/// Specs/agent.md: `godwit sync --watch`.
@Suite("A sync that stays")
struct SyncWatchTests {
  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("what is put goes out and comes in, an error is written once, Ctrl-C ends it well", arguments: [false, true])
  func stays(usesJSON: Bool) async throws {
    let (desk, laptop) = try await Machine.pair()
    let remote = "\(desk.folder)/remote"
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    for machine in [desk, laptop] {
      try #require(try machine.godwit("remote", "add", "stick", remote).status == 0)
    }
    let (output, error) = ("\(desk.folder)/output", "\(desk.folder)/error")
    for path in [output, error] { try Data().write(to: URL(fileURLWithPath: path)) }
    let process = desk.process(["sync", "--watch", "--every", "1"] + (usesJSON ? ["--json"] : []))
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: error)
    try process.run()
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    // From another process, which this one finds out.
    #expect(try desk.godwit("put", "todo", "--as", "1", input: Data("{}".utf8)).status == 0)
    try await Patience.until { try laptop.godwit("sync").status == 0 && laptop.godwit("get", "todo").lines.count == 1 }
    #expect(try laptop.godwit("put", "todo", "--as", "2", input: Data("{}".utf8)).status == 0)
    #expect(try laptop.godwit("sync").status == 0)
    try await Patience.until { try desk.godwit("get", "todo").lines.count == 2 }

    try FileManager.default.moveItem(atPath: remote, toPath: "\(remote)-away")
    try await Patience.until { try text(error).contains("stick") }
    // A pass that was under way may have met it in another way first.
    try await Task.sleep(for: .seconds(3))
    let written = try text(error)
    try await Task.sleep(for: .seconds(6))
    #expect(try text(error) == written)
    try FileManager.default.moveItem(atPath: "\(remote)-away", toPath: remote)
    let before = try text(output)
    try await Patience.until { try text(output) != before }

    process.interrupt()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    #expect(try desk.godwit("verify").status == 0)
    let first = try #require(try text(output).split(separator: "\n").first)
    #expect(first.hasPrefix(usesJSON ? "{\"remote\":\"stick\"" : "stick: "), "\(first)")
  }

  @Test(
    "options that do not go together are refused",
    arguments: [
      ["--every", "5"], ["--watch", "--every", "0"], ["--watch", "--every", "86401"], ["--watch", "--rejoin"],
    ])
  func refusals(options: [String]) throws {
    let machine = try Machine("watch")
    try #require(try machine.godwit("init").status == 0)
    let result = try machine.run(["sync"] + options)
    #expect(result.status == 64 && result.error.contains("--"), "\(result.error)")
  }

  @Test("without a remote it says what to do")
  func noRemote() throws {
    let machine = try Machine("watch")
    try #require(try machine.godwit("init").status == 0)
    let result = try machine.run(["sync", "--watch"])
    #expect(result.error.contains("godwit remote add"), "\(result.error)")
    #expect(try result.status != 0 && result.status == machine.run(["sync"]).status)
  }
}
