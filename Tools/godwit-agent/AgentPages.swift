import FlyingFox
import Foundation
import GodwitAgent
import GodwitReports
import ToolServer

/// Answers how an agent is (Specs/agent.md, "How it is").
struct AgentPages: HTTPHandler {
  private let board: AgentBoard
  /// Whether this machine's own programs alone may ask, so that a page in a browser must not under a name of its own.
  private let isLoopback: Bool

  init(_ board: AgentBoard, isLoopback: Bool) {
    self.board = board
    self.isLoopback = isLoopback
  }

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    var response = await answer(request)
    // A body behind an answer to HEAD would be read as the next answer.
    if request.method == .HEAD {
      response = HTTPResponse(statusCode: response.statusCode, headers: response.headers, body: Data())
    }
    return response
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    guard request.method == .GET || request.method == .HEAD else { return answer(.methodNotAllowed, "only GET\n") }
    guard !isLoopback || Self.isLocal(request.headers[.host]) else {
      return answer(.forbidden, "this host is not served\n")
    }
    switch request.path {
    case "/healthz":
      let closed = board.closed
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
    HTTPResponse(statusCode: code, headers: PageServer.headers(type), body: Data(text.utf8))
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
