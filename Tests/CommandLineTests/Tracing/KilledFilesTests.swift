import Foundation
import TestFolders
import Testing

/// `export --max-size` over earlier files, killed at every call that gives names, takes them or makes them last.
@Suite("Several files of one export, killed anywhere", .seesSystemCalls, .timeLimit(.minutes(15)))
struct KilledFilesTests {
  private static let calls = ["rename", "unlink", "fsync"]

  private let desk: Machine
  private let laptop: Machine
  /// Those of an earlier export, by name.
  private let earlier: [String: Data]
  private let newer = ["export", "--all", "--max-size", "24K", "changes"]

  init() async throws {
    (desk, laptop) = try await Machine.pair()
    for number in 0..<75 {
      try await desk.write { transaction in
        var generator = SystemRandomNumberGenerator()
        let title = (0..<80).map { _ in String(generator.next(), radix: 36) }.joined()
        try transaction.insert(Note(title: title, views: number))
      }
    }
    try #require(try desk.godwit("export", "--all", "--max-size", "16K", "changes").status == 0)
    let (machine, names) = (desk, try Self.names(in: desk))
    earlier = try Dictionary(uniqueKeysWithValues: names.map { ($0, try machine.read($0)) })
    try #require(earlier.count >= 3)
    try await desk.write { try $0.insert(Note(title: "one more")) }
  }

  private static func names(in machine: Machine) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: machine.folder).filter { $0.hasPrefix("changes") }.sorted()
  }

  private func putEarlierBack() throws {
    for name in try Self.names(in: desk) { unlink(desk.path(name)) }
    for (name, content) in earlier { try desk.write(content, to: name) }
  }

  @Test("leave whole files, of either export, and the next export leaves nothing of them")
  func everyCall() async throws {
    var kills = 0
    try await desk.killEverywhere(newer, calls: Self.calls, prepare: putEarlierBack) { place, isKilled in
      let named = try Self.names(in: desk).filter { !$0.hasSuffix(".tmp") }
      #expect(Set(named) == Set(earlier.keys), "\(place)")
      let outcome = try laptop.run(["verify"] + named.map(desk.path))
      #expect(outcome.status == 0, "\(place): \(outcome.error)")
      guard isKilled else { return }
      kills += 1
      try #require(try desk.run(newer).status == 0)
      #expect(try Self.names(in: desk).allSatisfy { !$0.hasSuffix(".tmp") }, "\(place)")
    }
    #expect(kills >= 4)
    let all = try Self.names(in: desk).map(desk.path)
    #expect(try laptop.run(["import"] + all).status == 0)
    #expect(try laptop.digest() == desk.digest())
  }
}
