import Foundation
import Godwit
import GodwitStorage

/// What the command line's start costs (Specs/budgets.md, "Start"). The program of the same build, beside this one,
/// runs.
let startBenchmarks = [
  start("godwit --version", baseline: "git --version", budget: 14) { _ in
    (["godwit", "--version"], ["git", "--version"])
  },
  start("godwit status", baseline: "git status", budget: 20) { context in
    // A key and a keyring of its own.
    setenv("XDG_CONFIG_HOME", "\(context.folder)/start-configuration", 1)
    for name in ["KEYRING", "MACHINE_KEY", "PASSPHRASE_FILE", "CREDENTIAL", "KEY_COMMAND"] {
      unsetenv("GODWIT_\(name)")
    }
    let (mine, theirs) = ("\(context.folder)/start", "\(context.folder)/start-git")
    try PipedProgram.run([program, "-C", mine, "init", "--quiet", "--name", "bench"])
    try PipedProgram.run(["git", "init", "--quiet", theirs])
    return (["godwit", "-C", mine, "status"], ["git", "-C", theirs, "status"])
  },
]

/// Where the program of this build is.
private let program = URL(fileURLWithPath: ResidentMemory.program).deletingLastPathComponent().path + "/godwit"

/// How often a program is started in one timed run.
private let starts = 20

private func start(
  _ name: String, baseline: String, budget: Double,
  words: @escaping @Sendable (BenchContext) throws -> (subject: [String], baseline: [String])
) -> Benchmark {
  var benchmark = Benchmark(group: "start", name: name, baseline: baseline, budget: budget) { context in
    let words = try words(context)
    return Benchmark.Sides(
      subject: { try await run([program] + words.subject.dropFirst()) }, baseline: { try await run(words.baseline) },
      units: starts)
  }
  if !FileManager.default.isExecutableFile(atPath: program) { benchmark.absence = "godwit is not built beside this" }
  return benchmark
}

private func run(_ words: [String]) async throws {
  try await BlockingThread.run { for _ in 0..<starts { try PipedProgram.run(words) } }
}
