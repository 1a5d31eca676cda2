import Foundation
import TestFolders
import Testing

/// Pages in Debian's chromium, without a window (Tests/Browser).
@Suite("Pages in a browser", .enabled(if: Browser.python != nil, "no browser: set GODWIT_BROWSER_PYTHON"))
struct BrowserTests {
  private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Browser").standardizedFileURL.path

  /// A script that is under way: what it asks for comes by its output.
  private func start(_ script: String, _ arguments: [String], in machine: Machine) throws -> (Process, Pipe, Pipe) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Browser.python))
    process.arguments = ["\(Self.scripts)/\(script)"] + arguments
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": machine.folder, "PYTHONDONTWRITEBYTECODE": "1"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle(forWritingAtPath: machine.path("browser.err"))
    try process.run()
    return (process, input, output)
  }

  private func complaints(_ machine: Machine) -> String {
    String(decoding: (try? machine.read("browser.err")) ?? Data(), as: UTF8.self)
  }

  @Test("the report is read as it should be, and runs nothing")
  func report() async throws {
    let desk = try await PageWorld().desk
    try desk.write(Data(), to: "browser.err")
    try #require(try desk.godwit("report", "plain.html").status == 0)
    try #require(try desk.godwit("report", "values.html", "--values").status == 0)
    let (process, _, output) = try start("report.py", [desk.folder], in: desk)
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && text == "the report reads well\n", "\(complaints(desk))")
    try Screenshots.keep(["plain-light.png", "plain-dark.png", "values-light.png", "values-dark.png"], of: desk)
  }

  @Test("the page that lives is used by keyboard, and follows what others write")
  func live() async throws {
    let desk = try await PageWorld().desk
    try desk.write(Data(), to: "browser.err")
    let ui = try await RunningUI(desk)
    let (process, input, output) = try start("ui.py", [desk.folder], in: desk)
    let answer = { (text: String) in try input.fileHandleForWriting.write(contentsOf: Data("\(text)\n".utf8)) }
    try answer(ui.address)
    var said = ""
    while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
      said = String(decoding: piece, as: UTF8.self)
      if said == "write\n" {
        try #require(try desk.godwit("put", "todo", "--as", "later", input: Data("{}".utf8)).status == 0)
        try answer("done")
      }
      if said == "end\n" {
        #expect(ui.end() == 0)
        try answer("done")
      }
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && said == "the page is used well\n", "\(complaints(desk))")
    try Screenshots.keep(["ui-light.png", "ui-dark.png", "ui-restore.png"], of: desk)
  }
}

/// The Python that drives the browser; nil where either is missing.
private enum Browser {
  static var python: String? {
    let files = FileManager.default
    guard files.isExecutableFile(atPath: "/usr/bin/chromium"), files.isExecutableFile(atPath: "/usr/bin/chromedriver")
    else { return nil }
    return ProcessInfo.processInfo.environment["GODWIT_BROWSER_PYTHON"]
  }
}

/// Where screenshots are kept for a person to look at: in the folder that GODWIT_SCREENSHOTS names, if any.
private enum Screenshots {
  static func keep(_ names: [String], of machine: Machine) throws {
    guard let folder = ProcessInfo.processInfo.environment["GODWIT_SCREENSHOTS"] else { return }
    for name in names { try machine.read(name).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
  }
}
