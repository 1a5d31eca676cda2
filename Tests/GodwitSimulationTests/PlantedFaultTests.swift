import Foundation
import GodwitBase
import GodwitStorage
import Testing

/// Runs godwit-sim, which this build made beside the tests.
private enum Simulator {
  static func run(_ seeds: ClosedRange<Int>, planting fault: PlantedFault?) async throws -> (status: Int32, output: String) {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let tool = (own as NSString).deletingLastPathComponent + "/godwit-sim"
    return try await BlockingThread.run {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: tool)
      process.arguments = [
        "--first", "\(seeds.lowerBound)", "--seeds", "\(seeds.count)", "--workers", "1", "--no-shrink",
      ]
      var environment = ProcessInfo.processInfo.environment
      environment["GODWIT_PLANT"] = fault?.rawValue
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

/// The simulator must be able to fail. Each seed was found by `GODWIT_PLANT=FAULT godwit-sim`; another may be as good when
/// the traces of seeds change.
@Suite("Planted faults")
struct PlantedFaultTests {
  @Test("each is found by a world that runs clean without it", arguments: [
    (PlantedFault.ignoreTieBreak, 1),
    (.restampOnReceipt, 1),
    (.reuseSequence, 1),
    (.forgetTombstoneEarly, 1),
    (.skipFold, 1),
    (.dropPreImage, 1),
    (.acceptGap, 1),
    (.logDerivedEffect, 1),
    (.loseCounterDelta, 1),
    (.followFutureClock, 1),
  ])
  func found(fault: PlantedFault, seed: Int) async throws {
    let planted = try await Simulator.run(seed...seed, planting: fault)
    #expect(planted.status == 1)
    #expect(planted.output.contains("seed \(seed): "))
    let clean = try await Simulator.run(seed...seed, planting: nil)
    #expect(clean.status == 0, "\(clean.output)")
  }

  @Test("there is a seed for every fault")
  func complete() {
    #expect(PlantedFault.allCases.count == 10)
  }
}
