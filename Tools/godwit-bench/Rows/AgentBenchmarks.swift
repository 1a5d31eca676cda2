import Foundation
import Godwit
import GodwitStorage

/// What an agent costs whose replicas have nothing to do (Specs/budgets.md). The program of the same build,
/// beside this one, runs.
let agentBenchmarks = [
  row("processor time of an idle agent's day, with a folder as the remote", baseline: "20 s", unit: "s") { context in
    (try await IdleAgent.secondsOfADay(context), 20)
  },
  row("memory of an agent with idle replicas", baseline: "1,024 MiB for 1,000", unit: "MiB") { context in
    let count = IdleAgent.replicas(context)
    return (try await IdleAgent.mebibytes(context, replicas: count), 1_024 * Double(count) / 1_000)
  },
]

private func row(
  _ name: String, baseline: String, unit: String,
  count: @escaping @Sendable (BenchContext) async throws -> (subject: Double, baseline: Double)
) -> Benchmark {
  var benchmark = Benchmark(group: "agent", name: name, baseline: baseline, budget: 1, unit: unit, count: count)
  benchmark.size = { "\(IdleAgent.replicas($0))" }
  if !FileManager.default.isExecutableFile(atPath: IdleAgent.program) {
    benchmark.absence = "godwit-agent is not built beside this"
  }
  return benchmark
}

/// A process of the agent's.
private enum IdleAgent {
  static let program =
    URL(fileURLWithPath: ResidentMemory.program).deletingLastPathComponent().path + "/godwit-agent"
  /// How long an agent is watched.
  private static let watch = Duration.seconds(30)
  /// Seconds of a day, and minutes, in each of which an agent syncs once.
  private static let (seconds, minutes) = (86_400.0, 1_440.0)

  static func replicas(_ context: BenchContext) -> Int { context.rowCount >= 100_000 ? 1_000 : 100 }

  /// What a second takes in which it looks for other processes' writes, and what a sync takes besides, in a day.
  static func secondsOfADay(_ context: BenchContext) async throws -> Double {
    let folder = "\(context.folder)/agent-day"
    let remote = "\(folder)/remote"
    try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
    let replica = try await Replica.open(at: "\(folder)/a", configuration: configuration(folder))
    try await replica.remotes.add("stick", at: remote)
    _ = try await replica.sync()
    await replica.close()
    let length = watch / .seconds(1)
    let quiet = try await run(folder, ["\(folder)/a"], every: 86_400) { try processorTime(of: $0) }
    let busy = try await run(folder, ["\(folder)/a"], every: 1) { try processorTime(of: $0) }
    return quiet / length * seconds + max(0, busy - quiet) / length * minutes
  }

  static func mebibytes(_ context: BenchContext, replicas: Int) async throws -> Double {
    let folder = "\(context.folder)/agent-memory"
    var folders: [String] = []
    for number in 1...replicas {
      folders.append("\(folder)/\(number)")
      let replica = try await Replica.open(at: "\(folder)/\(number)", configuration: configuration(folder))
      let remote = "\(folder)/sticks/\(number)"
      try FileManager.default.createDirectory(atPath: remote, withIntermediateDirectories: true)
      try await replica.remotes.add("stick", at: remote)
      await replica.close()
    }
    return try await run(folder, folders, every: 60) { try kibibytes(of: $0) / 1_024 }
  }

  private static func configuration(_ folder: String) -> Replica.Configuration {
    .init(key: .keyring(machineKey: "\(folder)/machine.key"))
  }

  /// How much the number grows while an agent that is ready runs; of memory the greatest.
  private static func run(
    _ folder: String, _ replicas: [String], every interval: Int, measure: (pid_t) throws -> Double
  ) async throws -> Double {
    let socket = "\(folder)/agent.sock"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments =
      ["run", "--socket", socket, "--every", "\(interval)", "--machine-key", "\(folder)/machine.key"] + replicas
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    // Until it has opened all, and the first syncs are over.
    try await Task.sleep(for: .seconds(3) + .milliseconds(10 * replicas.count))
    let before = replicas.count == 1 ? try measure(process.processIdentifier) : 0
    try await Task.sleep(for: watch)
    guard process.isRunning else { throw GodwitError(.invalidArgument, "the agent has ended") }
    return try measure(process.processIdentifier) - before
  }

  /// Seconds that all threads of a process have been on a processor, as Linux counts them (proc(5), schedstat).
  private static func processorTime(of process: pid_t) throws -> Double {
    let tasks = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
      // A thread may have ended meanwhile.
      let text = (try? String(contentsOfFile: "\(tasks)/\(task)/schedstat", encoding: .utf8)) ?? ""
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  private static func kibibytes(of process: pid_t) throws -> Double {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) } ?? 0
  }
}
