import Foundation
import TestFolders
import Testing

/// A `godwit ui` that is under way.
final class RunningUI: Sendable {
  let address: String
  private let process: Process

  init(_ machine: Machine, _ arguments: [String] = []) async throws {
    let output = machine.path("ui.out")
    try Data().write(to: URL(fileURLWithPath: output))
    process = machine.process(["ui", "--quiet"] + arguments)
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: output)
    try process.run()
    let process = process
    var text = ""
    try await Patience.until {
      text = try String(contentsOfFile: output, encoding: .utf8)
      return text.hasSuffix("\n") || !process.isRunning
    }
    PrintedJSON.note(Array(text.utf8), of: process)
    let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
    address = object?["url"] ?? text.trimmingCharacters(in: .newlines)
    try #require(process.isRunning && address.hasPrefix("http://127.0.0.1:"), "\(text)")
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  /// Sends Ctrl-C or another signal, and waits for its end.
  func end(_ signal: Int32 = SIGINT) -> Int32 {
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }

  var identifier: pid_t { process.processIdentifier }

  var port: Int { host.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

  var host: String { String(parts[0].dropFirst("http://".count)) }

  private var parts: [String] { address.components(separatedBy: "/#token=") }

  /// A curl that writes what comes to a file until it is ended.
  func follow(_ path: String, into file: String) throws -> Process {
    let curl = Process()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
    curl.arguments = ["-sSN", "-H", "Authorization: Bearer \(parts[1])", "-o", file, parts[0] + path]
    try Data().write(to: URL(fileURLWithPath: file))
    try curl.run()
    return curl
  }

  /// What curl gives of a request: the status, the head and the body.
  func ask(
    _ path: String, _ options: [String] = [], token: String? = nil, host: String? = nil
  ) throws -> (status: Int, head: String, body: String) {
    let curl = Process()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
    let headers = ["Authorization: Bearer \(token ?? parts[1])"] + (host.map { ["Host: \($0)"] } ?? [])
    curl.arguments =
      ["-sS", "-i", "--max-time", "20"] + headers.flatMap { ["-H", $0] } + options + [parts[0] + path]
    let output = Pipe()
    curl.standardOutput = output
    curl.standardError = FileHandle.nullDevice
    try curl.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    curl.waitUntilExit()
    let split = text.range(of: "\r\n\r\n")
    let head = String(text[..<(split?.lowerBound ?? text.endIndex)])
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return (status, head, split.map { String(text[$0.upperBound...]) } ?? "")
  }
}
