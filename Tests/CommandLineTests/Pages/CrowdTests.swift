import Foundation
import TestFolders
import TestServers
import Testing

/// Specs/report.md, "Who may ask", and Specs/agent.md, "The agent".
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

  @Test("of an agent's connections that wait the oldest are closed, and who comes is answered")
  func agent() async throws {
    let machine = try await PageWorld().desk
    let port = try LocalServer.freePort()
    let agent = try await RunningAgent(machine, ["--listen", "\(port)"])
    let sockets = crowd(400, at: port)
    defer { sockets.forEach { $0.close() } }
    #expect(sockets.count == 400)
    // Who comes before all of them were looked at may be one of the oldest.
    try await Patience.until { (try? LoopbackSocket.page("/healthz", port))?.hasSuffix("ok\n") == true }
    try await Patience.until { try openFiles(of: agent.identifier) < 200 }
    #expect(try agent.status().status != 2)
    #expect(sockets[0].read().isEmpty)
  }

  @Test("of a page's, too")
  func page() async throws {
    let world = try await PageWorld()
    let ui = try await RunningUI(world.desk)
    defer { withExtendedLifetime(world) {} }
    let sockets = crowd(400, at: ui.port)
    defer { sockets.forEach { $0.close() } }
    #expect(sockets.count == 400)
    try await Patience.until { try ui.ask("/api/page").status == 200 }
    try await Patience.until { try openFiles(of: ui.identifier) < 200 }
    #expect(sockets[0].read().isEmpty)
  }

  private func openFiles(of process: pid_t) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
  }
}
