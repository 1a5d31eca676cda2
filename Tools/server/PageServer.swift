import FlyingFox
import FlyingSocks
import Foundation
import Godwit

/// Serves pages by HTTP on one address, for the agent and for the page that lives.
package struct PageServer: Sendable {
  package enum Address: Sendable {
    /// A socket's path, at which nothing may lie.
    case unix(String)
    case version4(String, UInt16)
    case version6(String, UInt16)
  }

  private let server: HTTPServer
  private let name: String

  /// How long an answer may take, in seconds.
  private static let patience: TimeInterval = 60
  /// How many connections may wait at a time. A browser has six to one host.
  private static let connections = 100

  /// - Throws: FlyingFox's error for what is no address.
  package init(_ address: Address, _ handler: some HTTPHandler) throws {
    switch address {
    case .unix(let path):
      name = path
      server = Self.server(sockaddr_un.unix(path: path), handler)
    case .version4(let host, let port):
      name = "\(host):\(port)"
      server = Self.server(try sockaddr_in.inet(ip4: host, port: port), handler)
    case .version6(let host, let port):
      name = "[\(host)]:\(port)"
      server = Self.server(try sockaddr_in6.inet6(ip6: host, port: port), handler)
    }
  }

  private static func server(_ address: some SocketAddress, _ handler: some HTTPHandler) -> HTTPServer {
    let pool = WaitingConnections(HTTPServer.defaultPool(), limit: connections)
    return HTTPServer(
      config: .init(address: address, timeout: patience, pool: pool, logger: .disabled), handler: handler)
  }

  /// Until the task is cancelled.
  ///
  /// - Throws: `fileAccess` where the address cannot be had, or connections cannot be taken any more, as without files
  ///   that could be opened.
  package func run() async throws {
    do {
      try await server.run()
    } catch let error as SocketError {
      try Task.checkCancellation()
      let isTaken = if case .failed(_, EADDRINUSE, _) = error { true } else { false }
      throw GodwitError(
        .fileAccess, "nothing can be served at \(name): \(error)",
        hint: isTaken ? "it is taken: give another one" : nil)
    }
  }

  /// Waits until it answers, and lets the user's group connect to a socket at a path; the port, where the address has
  /// one.
  package func started() async throws -> UInt16? {
    try await server.waitUntilListening(timeout: 10)
    switch await server.listeningAddress {
    case .ip4(_, let port), .ip6(_, let port): return port
    case .unix(let path): chmod(path, 0o660)
    case nil: break
    }
    return nil
  }

  /// Headers of an answer of this type, which may not be kept or taken for another type.
  package static func headers(_ type: String, _ more: [HTTPHeader: String] = [:]) -> HTTPHeaders {
    let all: [HTTPHeader: String] = [
      .contentType: "\(type); charset=utf-8", HTTPHeader("Cache-Control"): "no-store",
      HTTPHeader("X-Content-Type-Options"): "nosniff",
    ]
    return HTTPHeaders(all.merging(more) { $1 })
  }
}
