import FlyingFox
import FlyingSocks
import Foundation
import Godwit
import Synchronization

/// Serves pages by HTTP on one address, for the agent and for the page that lives.
///
/// Who may connect can have his connections closed, and those of others with them, but not end it.
package final class PageServer: Sendable {
  package enum Address: Sendable {
    /// A socket's path. The user's group may connect as well.
    case unix(String)
    case version4(String, UInt16)
    case version6(String, UInt16)

    fileprivate var text: String {
      switch self {
      case .unix(let path): path
      case .version4(let host, let port): "\(host):\(port)"
      case .version6(let host, let port): "[\(host)]:\(port)"
      }
    }
  }

  private let address: Address
  private let handler: any HTTPHandler
  /// The port that it has, which it keeps.
  private let port = Mutex<UInt16?>(nil)
  private let starts: AsyncThrowingStream<Void, any Error>
  private let start: AsyncThrowingStream<Void, any Error>.Continuation

  /// How long an answer may take, in seconds.
  private static let patience: TimeInterval = 60
  /// How many connections may wait at a time. A browser has six to one host.
  private static let connections = 100

  package init(_ address: Address, _ handler: some HTTPHandler) {
    self.address = address
    self.handler = handler
    (starts, start) = AsyncThrowingStream.makeStream()
  }

  /// Until the task is cancelled. A socket that lies at a path is replaced.
  ///
  /// - Throws: `fileAccess` where the address cannot be had.
  package func run() async throws {
    do {
      try await keepServing()
    } catch {
      start.finish(throwing: error)
      throw error
    }
  }

  /// Waits until it answers; the port, where the address has one.
  ///
  /// - Throws: What `run` throws where it ends before that.
  package func started() async throws -> UInt16? {
    for try await _ in starts { break }
    return port.withLock(\.self)
  }

  /// Headers of an answer of this type, which may not be kept or taken for another type.
  package static func headers(_ type: String, _ more: [HTTPHeader: String] = [:]) -> HTTPHeaders {
    let all: [HTTPHeader: String] = [
      .contentType: "\(type); charset=utf-8", HTTPHeader("Cache-Control"): "no-store",
      HTTPHeader("X-Content-Type-Options"): "nosniff",
    ]
    return HTTPHeaders(all.merging(more) { $1 })
  }

  private func keepServing() async throws {
    while true {
      do {
        return try await serve()
      } catch SocketError.failed("Accept", _, _) {
        // What accept(2) lacks, such as open files, is there again once all connections are closed.
        try await Task.sleep(for: .seconds(1))
      } catch let error as SocketError {
        try Task.checkCancellation()
        let isTaken = if case .failed(_, EADDRINUSE, _) = error { true } else { false }
        throw GodwitError(
          .fileAccess, "nothing can be served at \(address.text): \(error)",
          hint: isTaken ? "it is taken: give another one" : nil)
      }
    }
  }

  private func serve() async throws {
    let server = try makeServer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask {
        try await server.waitUntilListening(timeout: Self.patience)
        await self.note(server.listeningAddress)
      }
      while try await group.next() != nil {}
    }
  }

  private func makeServer() throws -> HTTPServer {
    let kept = port.withLock(\.self)
    switch address {
    case .unix(let path):
      unlink(path)
      return makeServer(sockaddr_un.unix(path: path))
    case .version4(let host, let port): return makeServer(try sockaddr_in.inet(ip4: host, port: kept ?? port))
    case .version6(let host, let port): return makeServer(try sockaddr_in6.inet6(ip6: host, port: kept ?? port))
    }
  }

  private func makeServer(_ address: some SocketAddress) -> HTTPServer {
    let pool = WaitingConnections(HTTPServer.defaultPool(), limit: Self.connections)
    let configuration = HTTPServer.Configuration(
      address: address, timeout: Self.patience, pool: pool, logger: .disabled)
    return HTTPServer(config: configuration, handler: handler)
  }

  private func note(_ listening: Socket.Address?) {
    switch listening {
    case .ip4(_, let port), .ip6(_, let port): self.port.withLock { $0 = port }
    case .unix(let path): chmod(path, 0o660)
    case nil: break
    }
    start.yield()
  }
}
