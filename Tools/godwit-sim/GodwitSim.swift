import ArgumentParser
import Foundation
import Godwit
import GodwitSimulation
import ToolSupport

/// Runs simulated worlds, each fixed by its seed, and reports the ones that go wrong.
@main
struct GodwitSim: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "godwit-sim",
    abstract: "Run replicas in simulated worlds and check what must hold.",
    discussion: """
      Examples:
        godwit-sim --seeds 1000
        godwit-sim --minutes 60 --first 100000
        godwit-sim --replay 4711
        godwit-sim store --seeds 1000
        godwit-sim fleet 100
      """,
    subcommands: [StoreCommand.self, FleetCommand.self])

  @OptionGroup var queue: SeedQueue

  @Option(help: ArgumentHelp("Run one seed and print its events.", valueName: "seed"))
  var replay: UInt64?

  @Option(help: ArgumentHelp("With --replay: only these events, such as 3,7,12.", valueName: "events"))
  var keep: String?

  @Option(help: ArgumentHelp("Leave out a kind of fault: \(Fault.listed).", valueName: "fault"))
  var without: [String] = []

  @Option(help: ArgumentHelp("Add a kind of fault that is off: \(Fault.extraListed).", valueName: "fault"))
  var with: [String] = []

  @Flag(help: "Run each world twice, and report those of which something else comes.")
  var twice = false

  @Flag(inversion: .prefixedNo, help: "Look for the fewest events that fail.")
  var shrink = true

  func validate() throws {
    for name in without + with where Fault(name: name) == nil {
      throw ValidationError("there is no fault called \(name)")
    }
    guard keep == nil || replay != nil else { throw ValidationError("--keep needs --replay") }
    if let replay { _ = try kept(of: Trace(seed: replay, faults: faults)) }
  }

  private var faults: Fault {
    let added = with.compactMap(Fault.init(name:)).reduce(Fault.all) { $0.union($1) }
    return without.compactMap(Fault.init(name:)).reduce(added) { $0.subtracting($1) }
  }

  /// The numbers of the events to run.
  private func kept(of trace: Trace) throws -> [Int] {
    guard let keep else { return Array(0..<trace.count) }
    return try keep.split(separator: ",", omittingEmptySubsequences: false).map { text in
      guard let number = Int(text), (0..<trace.count).contains(number) else {
        throw ValidationError("--keep '\(text)' is no event of seed \(trace.seed), which has 0 to \(trace.count - 1)")
      }
      return number
    }
  }

  func run() async throws {
    try await queue.withFolder { root in
      let simulation = Simulation(root: root, faults: faults)
      if let replay { return try await run(seed: replay, simulation) }
      let report = try await SeedRunner(
        simulation, queue, shrinks: shrink, repeats: twice,
        options: with.map { "--with \($0)" } + without.map { "--without \($0)" }
      ).run()
      print(report.summary)
      if report.failures > 0 { throw ExitCode.failure }
    }
  }

  private func run(seed: UInt64, _ simulation: Simulation) async throws {
    let trace = Trace(seed: seed, faults: simulation.faults)
    let kept = try kept(of: trace)
    print(trace.description(of: kept))
    let outcome = try await simulation.run(trace, keeping: kept)
    guard let failure = outcome.failure else { return print("seed \(seed) ran clean") }
    print("seed \(seed): \(failure)")
    throw ExitCode.failure
  }

  static func main() {
    // The order of Swift's sets and dictionaries is another in every process; a seed must fix that, too.
    if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
      setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
      let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
      execv("/proc/self/exe", arguments)
    }
    Tool.main(Self.self)
  }
}
