import ArgumentParser
import Foundation
import GodwitSimulation

/// Counts what a group of many members costs one of them.
struct FleetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Count what a member of a large group asks of a store, and what that takes.",
    discussion: """
      Every member writes one row a day. The counts are of one member that syncs as often as is said.

      Examples:
        godwit-sim fleet 100
        godwit-sim fleet 1000 --syncs 1440
      """)

  @Argument(help: "How many members there are, 2 to 1,024.")
  var members: Int

  @Option(help: "How often a day the member syncs.")
  var syncs = 288

  func validate() throws {
    guard (2...1_024).contains(members), (1...86_400).contains(syncs) else {
      throw ValidationError("a fleet has 2 to 1,024 members, and syncs 1 to 86,400 times a day")
    }
  }

  func run() async throws {
    let root = NSTemporaryDirectory() + "godwit-fleet-\(UUID().uuidString)"
    for isCollected in [false, true] {
      let folder = "\(root)/\(isCollected)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: root) }
      let fleet = try await Fleet(members: members, folder: folder)
      try await fleet.settle()
      let change = try await fleet.change()
      let day = try await fleet.day(syncs: syncs, isCollected: isCollected)
      await fleet.close()
      if !isCollected {
        print(
          "\(members) members: a file with one change has \(change.bytes) bytes; making it takes "
            + "\(Self.text(change.made)), taking it \(Self.text(change.taken))")
      }
      print("a day of \(syncs) syncs \(isCollected ? "by a log" : "by mailboxes"): \(Self.text(day))")
    }
  }

  private static func text(_ cost: Fleet.Cost) -> String {
    "\(cost.requests) requests, \(cost.bytes) bytes, \(Int(cost.processor * 1_000)) ms of a core"
  }
}
