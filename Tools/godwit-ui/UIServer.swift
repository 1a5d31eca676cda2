import FlyingFox
import FlyingSocks
import Foundation
import Godwit
import GodwitPages

/// Serves the page on loopback to whoever has the token of this run.
struct UIServer {
  private let server: HTTPServer
  private let pages: UIPages
  private let token: String

  /// - Parameter port: Nil for one that is free.
  init(_ session: UISession, port: UInt16?) throws {
    token = Self.newToken()
    pages = UIPages(session)
    let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: port ?? 0)
    server = HTTPServer(config: .init(address: address, timeout: 60, logger: .disabled), handler: pages)
  }

  /// Until the task is cancelled.
  ///
  /// - Throws: `fileAccess` where the port cannot be had.
  func run() async throws {
    do {
      try await server.run()
    } catch let error as SocketError {
      try Task.checkCancellation()
      let isBusy = if case .failed(_, EADDRINUSE, _) = error { true } else { false }
      throw GodwitError(
        .fileAccess, "the page cannot be served: \(error)",
        hint: isBusy ? "the port is taken: give another one, or none" : "run it again")
    }
  }

  /// Waits until it is served; the address for a person's browser, with the token in the fragment, which browsers do
  /// not send.
  func address() async throws -> String {
    try await server.waitUntilListening(timeout: 10)
    guard case .ip4(_, let port)? = await server.listeningAddress else {
      throw GodwitError(.fileAccess, "the page is served at no port")
    }
    pages.open(PageGate(token: token, port: port))
    return "http://127.0.0.1:\(port)/#token=\(token)"
  }

  /// 256 random bits, in characters that may stand in an address.
  private static func newToken() -> String {
    var random = SystemRandomNumberGenerator()
    let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    return Data(bytes).base64EncodedString().filter { $0 != "=" }
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
  }
}
