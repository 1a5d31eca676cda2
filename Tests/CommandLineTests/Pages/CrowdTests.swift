import Foundation
import TestFolders
import TestServers
import Testing

/// Specs/report.md, "The page that lives", and Specs/agent.md, "How it is": who may connect ends neither program.
@Suite("Servers in a crowd")
struct CrowdTests {
  /// Connections that ask for nothing, or begin to and stop.
  private func crowd(_ count: Int, at port: Int) -> [LoopbackSocket] {
    (0..<count).compactMap { number in
      let socket = try? LoopbackSocket(connectingTo: port)
      if number.isMultiple(of: 2) { _ = socket?.write(Array("GET /healthz HTTP".utf8)) }
      return socket
    }
  }

  private func limit(_ process: pid_t, files: Int) throws {
    let limits = try Process.run(
      URL(fileURLWithPath: "/usr/bin/prlimit"), arguments: ["--pid", "\(process)", "--nofile=\(files)"])
    limits.waitUntilExit()
    try #require(limits.terminationStatus == 0)
  }

  @Test("of many connections that wait the oldest are closed, and who comes is answered")
  func answers() async throws {
    let machine = try await PageWorld().desk
    let port = try LocalServer.freePort()
    let agent = try await RunningAgent(machine, ["--listen", "\(port)"])
    let sockets = crowd(400, at: port)
    defer { sockets.forEach { $0.close() } }
    #expect(sockets.count == 400)
    try await Patience.until { try agent.openFiles() < 200 }
    #expect(try LoopbackSocket.page("/healthz", port).hasSuffix("ok\n"))
    #expect(sockets[0].read().isEmpty)
  }

  @Test("an agent and a page whose open files are used up close all connections, and answer again at their addresses")
  func endures() async throws {
    let world = try await PageWorld()
    let port = try LocalServer.freePort()
    let agent = try await RunningAgent(world.desk, ["--listen", "\(port)"])
    let ui = try await RunningUI(world.laptop)
    try limit(agent.identifier, files: 64)
    try limit(ui.identifier, files: 64)
    let sockets = crowd(200, at: port) + crowd(200, at: ui.port)
    defer { sockets.forEach { $0.close() } }
    try await Patience.until { try agent.status().status != 2 }
    try await Patience.until { (try? LoopbackSocket.page("/healthz", port))?.hasSuffix("ok\n") == true }
    try await Patience.until { try ui.ask("/api/page").status == 200 }
    agent.send(SIGTERM)
    #expect(agent.finish() == 0)
    #expect(ui.end() == 0)
  }
}
