import Foundation
import Godwit
import GodwitPages
import ToolServer

/// Serves the page on loopback to whoever has the token of this run.
struct UIServer {
  private let server: PageServer
  private let pages: UIPages
  private let token: String

  /// - Parameter port: Nil for one that is free.
  init(_ session: UISession, port: UInt16?) throws {
    token = Self.newToken()
    pages = UIPages(session)
    server = try PageServer(.version4("127.0.0.1", port ?? 0), pages)
  }

  /// Until the task is cancelled.
  ///
  /// - Throws: `fileAccess` where the port cannot be had.
  func run() async throws { try await server.run() }

  /// Waits until it is served; the address for a person's browser, with the token in the fragment, which browsers do
  /// not send.
  func address() async throws -> String {
    guard let port = try await server.started() else { throw GodwitError(.fileAccess, "the page is served at no port") }
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
