/// Who may ask a page's server for what (Specs/report.md, "Who may ask"): a function of a request's head.
package struct PageGate: Sendable {
  /// A request that is refused.
  package enum Refusal: Error, Equatable {
    /// It names another host: a name of somebody else's that leads here.
    case host
    /// A page of another origin asks.
    case origin
    /// No token, or not the one of this run.
    case token
    /// The path has another method, or a body of another type or length.
    case form
  }

  /// What is known of a request before its body is read.
  package struct Head: Sendable {
    package var method: String
    package var path: String
    /// By names in lower case.
    package var headers: [String: String]

    package init(method: String, path: String, headers: [String: String]) {
      self.method = method
      self.path = path
      self.headers = headers
    }
  }

  /// A body is a conflict's number at most.
  private static let bodyLimit = 1_024

  private let token: [UInt8]
  private let hosts: Set<String>

  /// - Parameters:
  ///   - token: What the person's browser has from the address that was printed.
  ///   - port: The port on loopback.
  package init(token: String, port: UInt16) {
    self.token = Array(token.utf8)
    let names = ["127.0.0.1", "localhost"]
    // Browsers leave the port of HTTP out.
    hosts = Set(names.map { "\($0):\(port)" } + (port == 80 ? names : []))
  }

  /// Whether what is asked for needs the token: all but the empty page, its script and its style.
  private static func isGuarded(_ path: String) -> Bool { !["/", "/page.js", "/page.css"].contains(path) }

  /// - Throws: What is wrong with the request.
  package func check(_ head: Head) throws(Refusal) {
    guard let host = head.headers["host"], hosts.contains(host) else { throw .host }
    if let origin = head.headers["origin"], origin != "http://\(host)" { throw .origin }
    guard head.method == "GET" || head.method == "POST", hasShortBody(head) else { throw .form }
    guard Self.isGuarded(head.path) else {
      guard head.method == "GET" else { throw .form }
      return
    }
    if let site = head.headers["sec-fetch-site"], site != "same-origin" { throw .origin }
    guard isToken(head.headers["authorization"]) else { throw .token }
    guard head.method == "POST" else { return }
    // Every browser names the origin of what changes something.
    guard head.headers["origin"] != nil else { throw .origin }
    guard head.headers["content-type"] == "application/json" else { throw .form }
  }

  /// A longer one is not read, and what is not read could be taken for the next request.
  private func hasShortBody(_ head: Head) -> Bool {
    guard head.headers["transfer-encoding"] == nil else { return false }
    guard let length = head.headers["content-length"] else { return true }
    return Int(length).map { (0...Self.bodyLimit).contains($0) } ?? false
  }

  /// Takes the same time wherever the two differ.
  private func isToken(_ header: String?) -> Bool {
    let prefix = "Bearer "
    guard let header, header.hasPrefix(prefix) else { return false }
    let given = Array(header.dropFirst(prefix.count).utf8)
    guard given.count == token.count else { return false }
    return zip(given, token).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
