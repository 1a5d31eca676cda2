import Foundation
import Godwit
import TestFolders

/// What a run of the program left.
struct Outcome {
  let status: Int32
  let output: [UInt8]
  let error: String

  var text: String { String(decoding: output, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// The lines of the output as JSON objects.
  func objects() throws -> [[String: Any]] {
    try lines.compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
  }
}

/// A machine of its own as far as the program can see: a home folder and a working folder, removed in the end.
final class Machine: Sendable {
  let name: String
  let folder: String
  var replica: String { "\(folder)/.godwit" }
  var machineKey: String { "\(folder)/config/godwit/machine.key" }
  var keys: Replica.KeySource { .keyring(machineKey: machineKey) }

  init(_ name: String) throws {
    self.name = name
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("godwit-cli-\(UUID().uuidString)").path
    // Other tests change the process's umask meanwhile.
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { TestFolder.remove(folder) }

  func path(_ name: String) -> String { "\(folder)/\(name)" }
  func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }
  func write(_ data: Data, to name: String) throws { try data.write(to: URL(fileURLWithPath: path(name))) }

  /// The program, not started yet.
  func process(_ arguments: [String], environment: [String: String] = [:]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = [
      "HOME": folder, "XDG_CONFIG_HOME": path("config"), "PATH": "/usr/bin:/bin", "AWS_EC2_METADATA_DISABLED": "true",
    ]
    .merging(Program.sanitizerOptions) { $1 }.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    return process
  }

  /// Runs the program to its end.
  @discardableResult
  func godwit(
    _ arguments: String..., input: Data = Data(), environment: [String: String] = [:]
  ) throws -> Outcome {
    try Self.finish([process(arguments, environment: environment)], input: input, in: self)
  }

  /// Runs the program with arguments that are put together.
  func run(_ arguments: [String], input: Data = Data()) throws -> Outcome {
    try Self.finish([process(arguments)], input: input, in: self)
  }

  /// Runs a shell's command, which has the program in `$GODWIT`.
  func shell(_ command: String) throws -> Outcome {
    let process = process(["-c", command], environment: ["GODWIT": Program.path])
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    return try Self.finish([process], input: Data(), in: self)
  }

  /// Runs the program with its output going to a device, such as one that is always full.
  func run(_ arguments: [String], writingTo device: String) throws -> (status: Int32, error: String) {
    let process = process(arguments)
    let error = Pipe()
    process.standardOutput = FileHandle(forWritingAtPath: device)
    process.standardError = error
    try process.run()
    let text = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  /// Runs the program to its end under strace, which writes to the log.
  func run(traced arguments: [String], log: String) throws -> Outcome {
    let process = process(SystemCalls.arguments(log: log, [Program.path] + arguments))
    process.executableURL = URL(fileURLWithPath: SystemCalls.program)
    return try Self.finish([process], input: Data(), in: self)
  }

  /// Runs the program with its output going to the program on another machine: `self … | other …`.
  func pipe(_ arguments: [String], to other: Machine, _ otherArguments: [String]) throws -> Outcome {
    try Self.finish([process(arguments), other.process(otherArguments)], input: Data(), in: self)
  }

  /// Streams go through files, which take any amount without another thread; the outcome is that of the last one.
  static func finish(_ processes: [Process], input: Data, in machine: Machine) throws -> Outcome {
    let run = machine.path(UUID().uuidString)
    let files = FileManager.default
    for (suffix, content) in [("in", input), ("out", Data()), ("err", Data())] {
      try content.write(to: URL(fileURLWithPath: "\(run).\(suffix)"))
    }
    defer { for suffix in ["in", "out", "err"] { try? files.removeItem(atPath: "\(run).\(suffix)") } }
    processes.first?.standardInput = FileHandle(forReadingAtPath: "\(run).in")
    for (left, right) in zip(processes, processes.dropFirst()) {
      let pipe = Pipe()
      left.standardOutput = pipe
      right.standardInput = pipe
      left.standardError = FileHandle.nullDevice
    }
    processes.last?.standardOutput = FileHandle(forWritingAtPath: "\(run).out")
    processes.last?.standardError = FileHandle(forWritingAtPath: "\(run).err")
    for process in processes { try process.run() }
    for process in processes { process.waitUntilExit() }
    let output = Array(try Data(contentsOf: URL(fileURLWithPath: "\(run).out")))
    PrintedJSON.note(output, of: processes.last)
    return Outcome(
      status: processes.last?.terminationStatus ?? -1, output: output,
      error: String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(run).err")), as: UTF8.self))
  }
}

enum Program {
  /// What Tools/sanitize sets for the sanitizers, for the program was built with them, too.
  static let sanitizerOptions = ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }

  /// The build puts the program beside the program that runs the tests.
  static var path: String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return (own as NSString).deletingLastPathComponent + "/godwit"
  }
}
