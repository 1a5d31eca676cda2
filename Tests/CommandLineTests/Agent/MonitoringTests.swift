import Foundation
import TestFolders
import TestServers
import Testing

/// Specs/agent.md, "systemd" and "Monitoring": the files that come along, loaded by the programs they are for.
@Suite("Units, alerts and the console")
struct MonitoringTests {
  private static let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../Tools").standardizedFileURL.path
  private static let analyzer = "/usr/bin/systemd-analyze"
  private static let checker = "/usr/bin/promtool"
  private static let server = "/usr/bin/prometheus"

  private static func isThere(_ program: String) -> Bool { FileManager.default.isExecutableFile(atPath: program) }

  /// Runs a program in a folder, and gives its status and all that it wrote.
  private func run(_ words: String..., in folder: String = Self.files) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    // systemd wants one of a user's.
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_RUNTIME_DIR": "/run"]) { $1 }
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test(
    "each unit may do little: systemd's own measure is at most 2.0", .enabled(if: isThere(analyzer)),
    arguments: ["system", "user"])
  func exposure(of kind: String) throws {
    let unit = "\(Self.files)/systemd/\(kind)/godwit-agent.service"
    let result = try run(Self.analyzer, "security", "--offline=true", "--threshold=20", "--no-pager", unit)
    #expect(result.status == 0, "\(result.text.suffix(300))")
    // A unit without its fences is over it, so the measure is taken.
    let lax = try Machine("unit")
    try lax.write(Data("[Service]\nExecStart=/bin/true\n".utf8), to: "lax.service")
    let other = try run(
      Self.analyzer, "security", "--offline=true", "--threshold=20", "--no-pager", lax.path("lax.service"))
    #expect(other.status != 0)
  }

  @Test(
    "systemd reads each unit without a complaint", .enabled(if: isThere(analyzer)), arguments: ["system", "user"])
  func verified(_ kind: String) throws {
    let machine = try Machine("unit")
    // The program is not installed here, which it would complain of.
    let unit = try String(contentsOfFile: "\(Self.files)/systemd/\(kind)/godwit-agent.service", encoding: .utf8)
    let text = unit.replacingOccurrences(of: "/usr/bin/godwit-agent run", with: "/bin/true run")
      .replacingOccurrences(of: "Documentation=man:godwit-agent(1)\n", with: "")
    #expect(text != unit)
    try machine.write(Data(text.utf8), to: "godwit-agent.service")
    let result = try run(
      Self.analyzer, "--\(kind)", "verify", "--man=no", "--recursive-errors=no", machine.path("godwit-agent.service"))
    #expect(result.status == 0 && !result.text.contains("godwit-agent.service:"), "\(result.text)")
  }

  @Test("the alerts do what their tests say", .enabled(if: isThere(checker)))
  func alerts() throws {
    let checked = try run(Self.checker, "check", "rules", "godwit-alerts.yml", in: "\(Self.files)/monitoring")
    #expect(checked.status == 0 && checked.text.contains("9 rules found"), "\(checked.text)")
    let tested = try run(Self.checker, "test", "rules", "alerts-test.yml", in: "\(Self.files)/monitoring")
    #expect(tested.status == 0, "\(tested.text)")
  }

  @Test(
    "Prometheus reads the metrics, loads the alerts and shows the console",
    .enabled(if: isThere(server) && isThere(checker)))
  func prometheus() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let remote = desk.path("remote")
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    try #require(try desk.godwit("remote", "add", "stick", remote).status == 0)
    let port = try LocalServer.freePort()
    let agent = try await RunningAgent(desk, ["--listen", "\(port)"])
    try await Patience.until { try agent.status().text.contains("stick: synced") }

    try desk.write(Data(try LoopbackSocket.page("/metrics", port).split(separator: "\r\n\r\n")[1].utf8), to: "metrics")
    let lint = try desk.shell("\(Self.checker) check metrics < metrics 2>&1")
    #expect(lint.status == 0, "\(lint.text)")

    let configuration = """
      global: { scrape_interval: 1s, evaluation_interval: 1s }
      rule_files: ["\(Self.files)/monitoring/godwit-alerts.yml"]
      scrape_configs: [{ job_name: godwit, static_configs: [{ targets: ["127.0.0.1:\(port)"] }] }]
      """
    try desk.write(Data(configuration.utf8), to: "prometheus.yml")
    let started = try LocalServer(Self.server) { port in
      [
        "--config.file=\(desk.path("prometheus.yml"))", "--storage.tsdb.path=\(desk.path("data"))",
        "--web.listen-address=127.0.0.1:\(port)", "--web.console.templates=\(Self.files)/monitoring",
        "--web.console.libraries=\(Self.files)/monitoring",
      ]
    }
    try await Patience.until {
      try LoopbackSocket.page("/consoles/godwit.html", started.port).contains("<td>\(desk.replica)")
    }
    let console = try LoopbackSocket.page("/consoles/godwit.html", started.port)
    #expect(console.contains("<td>yes") && console.contains("<td>well") && console.contains(" ago"), "\(console)")
    #expect(try LoopbackSocket.page("/api/v1/rules", started.port).contains("GodwitForked"))
    try FileManager.default.moveItem(atPath: remote, toPath: "\(remote)-away")
    try await Patience.until {
      try LoopbackSocket.page("/consoles/godwit.html", started.port).contains("<td class=\"bad\">failing")
        && LoopbackSocket.page("/api/v1/alerts", started.port).contains("GodwitRemoteFailing")
    }
  }
}
