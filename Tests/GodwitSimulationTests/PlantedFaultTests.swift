import Foundation
import GodwitStorage
import Testing

/// The simulator must be able to fail. `Tools/plant-faults` builds it with each mistake and demands that it is found;
/// here it is held that the mistakes fit the code as it is.
@Suite("Planted faults")
struct PlantedFaultTests {
  private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  private static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(package)/Tests/PlantedFaults")
      .filter { $0.hasSuffix(".patch") }.map { String($0.dropLast(6)) }.sorted()
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(package)/\(path)", encoding: .utf8)
  }

  @Test("each applies to the sources, and the sources have none of them")
  func apply() async throws {
    let folder = NSTemporaryDirectory() + "godwit-planted-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let run = try await CommandRun("\(Self.package)/Tools/plant-faults", ["--apply", folder])
    #expect(run.status == 0, "\(run.output)")
    let planted = try FileManager.default.subpathsOfDirectory(atPath: "\(folder)/Sources")
      .filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/PlantedFault.swift") }
    var found: Set<String> = []
    for path in planted {
      let text = try String(contentsOfFile: "\(folder)/Sources/\(path)", encoding: .utf8)
      for match in text.matches(of: /PlantedFault\.(\w+)\.isPlanted/) { found.insert(String(match.output.1)) }
      if text.contains("PlantedFault") { #expect(try !Self.text("Sources/\(path)").contains("PlantedFault")) }
    }
    #expect(found.count == (try Self.names().count))
  }

  @Test("the specification lists them all, and so does their switch")
  func listed() throws {
    let rows = try Self.text("Specs/simulation.md").matches(of: /\n\| `([a-z-]+)` \|/).map { String($0.output.1) }
    let cases = try Self.text("Tests/PlantedFaults/PlantedFault.swift").matches(of: /case \w+ = "([a-z-]+)"/)
    #expect(rows.sorted() == (try Self.names()))
    #expect(cases.map { String($0.output.1) }.sorted() == (try Self.names()))
  }

  @Test("a name that is no fault is refused, and not a run without one")
  func unknown() async throws {
    let run = try await CommandRun("\(Self.package)/Tools/plant-faults", ["acept-gap"])
    #expect(run.status == 1 && run.output.contains("there is no fault 'acept-gap'"), "\(run.output)")
  }
}

@Suite("godwit-sim")
struct SimulatorCommandTests {
  @Test("events that a seed has not are refused", arguments: ["99999", "-1", "1,x", "1,", ""])
  func foreignEvents(list: String) async throws {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let tool = (own as NSString).deletingLastPathComponent + "/godwit-sim"
    let run = try await CommandRun(tool, ["--replay", "1", "--keep=\(list)"])
    #expect(run.status == 64 && run.output.contains("--keep"), "\(run.output)")
  }
}

/// A program that was run, with what it printed.
private struct CommandRun {
  let status: Int32
  let output: String

  init(_ program: String, _ arguments: [String]) async throws {
    (status, output) = try await BlockingThread.run {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
  }
}
