import ArgumentParser
import Foundation

/// Measures what Godwit costs as ratios against stated baselines (Specs/budgets.md).
@main
struct GodwitBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "godwit-bench",
    abstract:
      "Measure Godwit against its baselines, each as a ratio taken inside one run.",
    discussion: """
      Examples:
        godwit-bench                    every row, as a table
        godwit-bench --check capture    fail when a row whose name holds "capture" is over budget
        godwit-bench --json --rows 20000
      """)

  @Argument(help: "Only rows whose group or name holds this text.")
  var filter: String?

  @Flag(help: "Exit with 1 when a row is over its budget.")
  var check = false

  @Flag(help: "Print one JSON object per row.")
  var json = false

  @Option(help: "Table rows each side works on.")
  var rows = 100_000

  @Option(help: "Times each pair of sides is run; the median counts.")
  var rounds = 16

  @OptionGroup var child: BenchChild

  func validate() throws {
    guard rows >= 1_000, rounds >= 1 else { throw ValidationError("--rows is at least 1000, --rounds at least 1") }
  }

  func run() async throws {
    if try await child.run() { return }
    let folder = NSTemporaryDirectory() + "godwit-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let context = BenchContext(folder: folder, rowCount: rows, rounds: rounds)
    let benchmarks = allBenchmarks.filter { benchmark in
      filter.map { benchmark.group.contains($0) || benchmark.name.contains($0) } ?? true
    }
    guard !benchmarks.isEmpty else { throw ValidationError("no row is called \(filter ?? "")") }
    if !json { print(Measurement.header) }
    var isOver = false
    for benchmark in benchmarks {
      if let absence = benchmark.absence {
        if !json { print("\(benchmark.group): \(benchmark.name): left out, \(absence)") }
        continue
      }
      let measurement = try await benchmark.measure(context)
      print(json ? try measurement.json() : measurement.line)
      if measurement.isOver { isOver = true }
    }
    if !json { for line in try await peers(of: benchmarks, context) { print(line) } }
    if check && isOver { throw ExitCode(1) }
  }
}

/// What others take for the like of whole groups, and what is printed without a budget.
private func peers(of benchmarks: [Benchmark], _ context: BenchContext) async throws -> [String] {
  let groups = Set(benchmarks.map(\.group))
  let merge = groups.contains("merge") ? [SessionExtension.line(context)] : []
  let documents = groups.contains("documents") ? [Diskcache.line(context)] : []
  func usesSome(of rows: [Benchmark]) -> Bool { benchmarks.contains { row in rows.contains { $0.name == row.name } } }
  let fleet = usesSome(of: fleetBenchmarks) ? [try await FleetFigures.shared.line(context)] : []
  let store = usesSome(of: storeBenchmarks) ? [RcloneCopy.line(context)].compactMap(\.self) : []
  return merge + documents + fleet + store
}

/// Every row of the table, in the order it is printed.
let allBenchmarks: [Benchmark] =
  captureBenchmarks + modelBenchmarks + queryBenchmarks + openBenchmarks
  + mergeBenchmarks + upgradeBenchmarks + sealedBenchmarks + arrivalBenchmarks + documentsBenchmarks + remoteBenchmarks
  + startBenchmarks + agentBenchmarks
