import FlyingFox
import FlyingSocks
import Foundation
import Godwit
import GodwitAgent
import GodwitReports

/// Answers how an agent is, on one address (Specs/agent.md, "How it is").
struct AgentServer {
  private let board: AgentBoard
  /// Whether this machine's own programs alone may ask, so that a page in a browser must not under a name of its own.
  private let isLoopback: Bool
  private let server: HTTPServer

  /// How long an answer may take.
  private static let patience: TimeInterval = 60

  init(_ board: AgentBoard, at socket: AgentSocket) throws {
    try self.init(board, socket.address(), isLoopback: false)
  }

  init(_ board: AgentBoard, at place: ListenAddress) throws {
    switch place.host {
    case .version4(let host):
      try self.init(board, sockaddr_in.inet(ip4: host, port: place.port), isLoopback: place.isLoopback)
    case .version6(let host):
      try self.init(board, sockaddr_in6.inet6(ip6: host, port: place.port), isLoopback: place.isLoopback)
    }
  }

  private init(_ board: AgentBoard, _ address: some SocketAddress, isLoopback: Bool) throws {
    self.board = board
    self.isLoopback = isLoopback
    server = HTTPServer(
      config: .init(address: address, timeout: Self.patience, logger: .disabled),
      handler: AgentPages(board: board, isLoopback: isLoopback))
  }

  /// Until the task is cancelled.
  ///
  /// - Throws: `fileAccess` where the address cannot be had.
  func run() async throws {
    do {
      try await server.run()
    } catch let error as SocketError {
      try Task.checkCancellation()
      throw GodwitError(.fileAccess, "the agent cannot answer at its address: \(error)", hint: "is it taken?")
    }
  }

  /// Waits until it answers.
  func started() async throws { try await server.waitUntilListening(timeout: 10) }
}

/// The pages.
private struct AgentPages: HTTPHandler {
  let board: AgentBoard
  let isLoopback: Bool

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard request.method == .GET || request.method == .HEAD else { return answer(.methodNotAllowed, "only GET\n") }
    guard !isLoopback || Self.isLocal(request.headers[.host]) else {
      return answer(.forbidden, "this host is not served\n")
    }
    switch request.path {
    case "/healthz":
      let closed = await AgentStatus(of: board).closed
      return answer(closed.isEmpty ? .ok : .serviceUnavailable, closed.isEmpty ? "ok\n" : Self.text(closed))
    case "/status":
      let status = await AgentStatus(of: board)
      return answer(status.isWell ? .ok : .serviceUnavailable, status.json.text + "\n", "application/json")
    case "/status.txt":
      let status = await AgentStatus(of: board)
      return answer(status.isWell ? .ok : .serviceUnavailable, Self.text(status.lines))
    case "/metrics": return answer(.ok, await AgentStatus(of: board).metrics, "text/plain; version=0.0.4")
    default: return answer(.notFound, "there are /healthz, /status, /status.txt and /metrics\n")
    }
  }

  private func answer(_ code: HTTPStatusCode, _ text: String, _ type: String = "text/plain") -> HTTPResponse {
    let headers = HTTPHeaders([
      .contentType: type.contains("json") ? type : "\(type); charset=utf-8", HTTPHeader("Cache-Control"): "no-store",
      HTTPHeader("X-Content-Type-Options"): "nosniff",
    ])
    return HTTPResponse(statusCode: code, headers: headers, body: Data(text.utf8))
  }

  private static func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

  /// Whether a request that came by loopback names it so. One that does not is a browser's, whose page has had its name
  /// lead here.
  private static func isLocal(_ host: String?) -> Bool {
    guard let host else { return true }
    let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
    return ["localhost", "[::1]"].contains(String(name)) || name.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
  }
}
