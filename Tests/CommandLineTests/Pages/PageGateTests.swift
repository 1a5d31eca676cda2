import GodwitPages
import Testing

/// Specs/report.md, "Who may ask".
@Suite("Who may ask a page's server")
struct PageGateTests {
  private let gate = PageGate(token: "secret", port: 8_000)
  private static let own = ["host": "127.0.0.1:8000", "authorization": "Bearer secret"]
  private static let post = own.merging(["origin": "http://127.0.0.1:8000", "content-type": "application/json"]) { $1 }

  private func refusal(_ method: String, _ path: String, _ headers: [String: String]) -> PageGate.Refusal? {
    do throws(PageGate.Refusal) {
      try gate.check(PageGate.Head(method: method, path: path, headers: headers))
      return nil
    } catch {
      return error
    }
  }

  @Test("the page itself asks for all that it needs")
  func own() {
    for path in ["/", "/page.js", "/page.css"] { #expect(refusal("GET", path, ["host": "localhost:8000"]) == nil) }
    let fetched = Self.own.merging(["sec-fetch-site": "same-origin"]) { $1 }
    for path in ["/api/page", "/api/events", "/api/why"] { #expect(refusal("GET", path, fetched) == nil) }
    #expect(refusal("POST", "/api/restore", Self.post.merging(["sec-fetch-site": "same-origin"]) { $1 }) == nil)
  }

  @Test(
    "a name of somebody else's that leads here is refused, for whatever",
    arguments: [
      nil, "", "127.0.0.1", "127.0.0.1:8001", "evil.example:8000", "127.0.0.1:8000.evil.example", "[::1]:8000",
    ])
  func hosts(host: String?) {
    var headers = Self.post
    headers["host"] = host
    for path in ["/", "/page.js", "/api/page"] { #expect(refusal("GET", path, headers) == .host) }
    #expect(refusal("POST", "/api/sync", headers) == .host)
  }

  @Test("a page of another origin is refused, with the token even")
  func origins() {
    for origin in ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001", ""] {
      #expect(refusal("POST", "/api/sync", Self.post.merging(["origin": origin]) { $1 }) == .origin)
      #expect(refusal("GET", "/api/page", Self.own.merging(["origin": origin]) { $1 }) == .origin)
    }
    for site in ["cross-site", "same-site", "none"] {
      #expect(refusal("GET", "/api/page", Self.own.merging(["sec-fetch-site": site]) { $1 }) == .origin)
    }
    #expect(refusal("POST", "/api/sync", Self.post.filter { $0.key != "origin" }) == .origin)
  }

  @Test("without the token nothing of the replica is shown and nothing done")
  func tokens() {
    for token in [
      nil, "", "secret", "Bearer", "Bearer ", "Bearer secreT", "Bearer secret ", "Bearer secre", "bearer secret",
    ] {
      var headers = Self.post
      headers["authorization"] = token
      for path in ["/api/page", "/api/events", "/api/why", "/api/other", "/page.js/", "//", "/PAGE.JS"] {
        #expect(refusal("GET", path, headers) == .token)
      }
      #expect(refusal("POST", "/api/restore", headers) == .token)
    }
  }

  @Test("other methods and bodies that a form could send are refused")
  func forms() {
    for method in ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"] { #expect(refusal(method, "/", Self.post) == .form) }
    #expect(refusal("POST", "/", Self.post) == .form)
    for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"] {
      var headers = Self.post
      headers["content-type"] = type
      #expect(refusal("POST", "/api/sync", headers) == .form)
    }
    for (name, value) in [("content-length", "1025"), ("content-length", "x"), ("transfer-encoding", "chunked")] {
      let long = Self.post.merging([name: value]) { $1 }
      for path in ["/", "/page.js", "/api/page"] { #expect(refusal("GET", path, long) == .form) }
      #expect(refusal("POST", "/api/sync", long) == .form)
    }
    #expect(refusal("POST", "/api/sync", Self.post.merging(["content-length": "1024"]) { $1 }) == nil)
  }
}
