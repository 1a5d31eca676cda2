import Foundation
import TestFolders
import Testing

/// Specs/report.md, "The page that lives", by requests.
@Suite("The page that lives", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "no curl"))
struct UITests {
  private static let json = ["-H", "Content-Type: application/json"]

  private func origin(_ ui: RunningUI) -> [String] {
    ["-H", "Origin: \(ui.address.components(separatedBy: "/#").first ?? "")"]
  }

  @Test("shows, explains, restores and syncs for who has the token, and nothing for others")
  func asks() async throws {
    let world = try await PageWorld()
    let ui = try await RunningUI(world.desk)
    let shell = try ui.ask("/", token: "")
    #expect(shell.status == 200 && !shell.body.contains("desk") && !shell.body.contains("todo"))
    for header in ["script-src 'self'", "default-src 'none'", "frame-ancestors 'none'", "nosniff", "no-store"] {
      #expect(shell.head.contains(header), "\(header)")
    }
    #expect(try ui.ask("/page.js", token: "").body.contains("use strict"))
    let page = try ui.ask("/api/page")
    #expect(page.status == 200 && page.body.contains(PageWorld.secretValue) && page.body.contains("&lt;script&gt;"))
    #expect(try ui.ask("/api/why?conflict=1").body.contains("by laptop"))
    #expect(try ui.ask("/api/why?table=todo&key=\(PageWorld.secretKey)").body.contains("title = "))
    #expect(try ui.ask("/api/why?table=todo&key=nothing").status == 404)
    #expect(try ui.ask("/api/why?conflict=x").status == 400)

    let restore = Self.json + ["-d", #"{"conflict": "1"}"#]
    #expect(try ui.ask("/api/restore", restore).status == 403)
    #expect(try ui.ask("/api/restore", restore + origin(ui), token: "x").status == 401)
    #expect(try ui.ask("/api/restore", restore + ["-H", "Origin: http://evil.example"]).status == 403)
    #expect(try ui.ask("/api/restore", ["-d", #"{"conflict": "1"}"#] + origin(ui)).status == 405)
    #expect(try world.desk.godwit("conflicts", "show", "1", "--json").objects().first?["resolved"] as? Bool == false)
    #expect(try ui.ask("/api/restore", restore + origin(ui)).body == "{\"written\":true}\n")
    #expect(try world.desk.godwit("conflicts", "show", "1", "--json").objects().first?["resolved"] as? Bool == true)
    #expect(try ui.ask("/api/restore", Self.json + ["-d", "[]"] + origin(ui)).status == 400)
    let long = Self.json + ["-d", "{\"conflict\": \"\(String(repeating: "1", count: 5_000))\"}"]
    #expect(try ui.ask("/api/restore", long + origin(ui)).status == 405)
    // What is unread of a refused body is no request of its own.
    let inside = "GET /page.css HTTP/1.1\r\nHost: \(ui.host)\r\n\r\n" + String(repeating: " ", count: 3 << 20)
    try world.desk.write(Data(inside.utf8), to: "inside")
    let smuggled = try ui.ask(
      "/", ["-H", "Origin: http://evil.example", "--data-binary", "@\(world.desk.path("inside"))"])
    #expect(smuggled.status == 403 && !smuggled.body.contains("HTTP/1.1"), "\(smuggled)")

    for host in ["evil.example", "127.0.0.1"] { #expect(try ui.ask("/api/page", host: host).status == 403) }
    #expect(try ui.ask("/api/page", token: "").status == 401)
    #expect(try ui.ask("/api/other").status == 404)
    #expect(ui.end() == 0)
  }

  @Test("a page is sent what others write, and a sync's end")
  func events() async throws {
    let world = try await PageWorld()
    let ui = try await RunningUI(world.desk)
    let events = world.desk.path("events")
    let curl = try ui.follow("/api/events", into: events)
    defer { curl.terminate() }
    let body = { try String(contentsOfFile: events, encoding: .utf8) }
    try await Patience.until { try body().contains(": still here") }
    try #require(try world.desk.godwit("put", "todo", "--as", "z", input: Data("{}".utf8)).status == 0)
    try await Patience.until { try body().contains("event: changed\ndata: {}\n") }
    #expect(try ui.ask("/api/sync", Self.json + ["-d", "{}"] + origin(ui)).body == "{\"begun\":true}\n")
    try await Patience.until { try body().contains("event: synced\ndata: {\"lines\":[\"stick: ") }
    #expect(ui.end(SIGTERM) == 0)
  }

  @Test("a port that is taken is an error, and two runs have two tokens")
  func ports() async throws {
    let desk = try Machine("desk")
    try #require(try desk.godwit("init").status == 0)
    let ui = try await RunningUI(desk)
    let port = try #require(URL(string: ui.address)?.port)
    let second = try desk.godwit("ui", "--port", "\(port)")
    #expect(second.status != 0 && second.error.contains("it is taken"), "\(second.error)")
    let other = try await RunningUI(desk, ["--json"])
    #expect(other.address.components(separatedBy: "token=")[1] != ui.address.components(separatedBy: "token=")[1])
    #expect(try ui.ask("/api/page", token: other.address.components(separatedBy: "token=")[1]).status == 401)
  }
}
