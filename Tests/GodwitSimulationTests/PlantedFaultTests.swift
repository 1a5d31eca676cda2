import Foundation
import GodwitBase
import GodwitStorage
import Testing

/// Runs godwit-sim, which this build made beside the tests.
private enum Simulator {
  static func run(_ seeds: ClosedRange<Int>, planting fault: PlantedFault?) async throws -> (
    status: Int32, output: String
  ) {
    try await run(
      ["--first", "\(seeds.lowerBound)", "--seeds", "\(seeds.count)", "--workers", "1", "--no-shrink"],
      planting: fault?.rawValue)
  }

  static func run(
    _ arguments: [String], planting fault: String? = nil
  ) async throws -> (status: Int32, output: String) {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let tool = (own as NSString).deletingLastPathComponent + "/godwit-sim"
    return try await BlockingThread.run {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: tool)
      process.arguments = arguments
      var environment = ProcessInfo.processInfo.environment
      environment["GODWIT_PLANT"] = fault
      process.environment = environment
      process.standardOutput = output
      process.standardError = output
      try process.run()
      let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// The simulator must be able to fail. `Tools/plant-faults` demands that each fault is found within 1,000 seeds; these
/// few are enough for all of them, and should the traces of seeds change, others are.
@Suite("Planted faults")
struct PlantedFaultTests {
  private static let seeds = 1...16
  /// Rare ones: a column that is made of another, and a barrier behind it; a member that is behind for long while the
  /// others forget.
  private static let rareSeeds: [PlantedFault: ClosedRange<Int>] = [
    .carryTwice: 58...58, .deriveForWhoKnew: 79...79, .acknowledgeHeld: 34...34,
  ]

  @Test("each is found by some world", arguments: PlantedFault.allCases)
  func found(fault: PlantedFault) async throws {
    let run = try await Simulator.run(Self.rareSeeds[fault] ?? Self.seeds, planting: fault)
    #expect(run.status == 1, "\(fault.rawValue) was not found")
    #expect(run.output.hasPrefix("seed "), "\(run.output)")
  }

  @Test("the same worlds run clean without a fault")
  func clean() async throws {
    for seeds in [Self.seeds] + Self.rareSeeds.values {
      let run = try await Simulator.run(seeds, planting: nil)
      #expect(run.status == 0, "\(run.output)")
      #expect(run.output.contains("\(seeds.count) seeds"))
    }
  }

  @Test("a name that is no fault is refused, and not a run without one")
  func unknown() async throws {
    let run = try await Simulator.run(["--seeds", "1"], planting: "acept-gap")
    #expect(run.status == 64, "\(run.output)")
    #expect(run.output.contains("there is no fault 'acept-gap', which GODWIT_PLANT names"))
  }

  @Test("events that a seed has not are refused", arguments: ["99999", "-1", "1,x", "1,", ""])
  func foreignEvents(list: String) async throws {
    let run = try await Simulator.run(["--replay", "1", "--keep=\(list)"])
    #expect(run.status == 64 && run.output.contains("--keep"), "\(run.output)")
  }

  @Test("there are fifteen")
  func complete() { #expect(PlantedFault.allCases.count == 15) }
}
