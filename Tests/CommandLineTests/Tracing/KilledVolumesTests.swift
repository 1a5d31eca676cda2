import Foundation
import TestFolders
import Testing

/// `export --volume-size` over an earlier set, killed at every call that gives names, takes them or makes them last.
@Suite("Volumes, killed anywhere", .seesSystemCalls, .timeLimit(.minutes(15)))
struct KilledVolumesTests {
  private static let calls = ["rename", "unlink", "fsync"]

  private let desk: Machine
  private let laptop: Machine
  /// The earlier set, by name.
  private let earlier: [String: Data]
  private let newer = ["export", "--all", "--volume-size", "12K", "changes"]

  init() async throws {
    (desk, laptop) = try await Machine.pair()
    try await desk.write { transaction in
      var generator = SystemRandomNumberGenerator()
      for number in 0..<150 {
        let title = (0..<20).map { _ in String(generator.next(), radix: 36) }.joined()
        try transaction.insert(Note(title: title, views: number))
      }
    }
    try #require(try desk.godwit("export", "--all", "--volume-size", "4K", "changes").status == 0)
    let (machine, names) = (desk, try Self.names(in: desk))
    earlier = try Dictionary(uniqueKeysWithValues: names.map { ($0, try machine.read($0)) })
    try #require(earlier.count >= 6)
    try await desk.write { try $0.insert(Note(title: "one more")) }
  }

  private static func names(in machine: Machine) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: machine.folder).filter { $0.hasPrefix("changes") }.sorted()
  }

  private func putEarlierBack() throws {
    for name in try Self.names(in: desk) { unlink(desk.path(name)) }
    for (name, content) in earlier { try desk.write(content, to: name) }
  }

  /// How many transactions an import of these files would bring: of one file that is whole, and of nothing else.
  private func transactions(_ files: [String]) throws -> Int {
    let outcome = try laptop.run(["import", "--plan", "--json"] + files)
    try #require(outcome.status == 0, "\(files): \(outcome.error)")
    let told = try outcome.objects()
    #expect(told.count == 1, "\(told)")
    return try #require(told.first?["applied"] as? Int)
  }

  @Test("leave the earlier set or the new one, whole, to who reads or copies all of them; the next export ends it")
  func everyCall() async throws {
    var found: [Int] = []
    var states: Set<Int> = []
    var betweenCount = 0
    try await desk.killEverywhere(newer, calls: Self.calls, prepare: putEarlierBack) { place, isKilled in
      let left = try Self.names(in: desk).map(desk.path)
      let count = try transactions(left)
      found.append(count)
      if left.contains(where: { $0.hasSuffix(".001.new") }) {
        betweenCount += 1
        // Also when only those that have their places are named, as a person would.
        let numbered = left.filter { earlier[($0 as NSString).lastPathComponent] != nil }
        #expect(try transactions(numbered) == count, "\(place)")
        #expect(try laptop.run(["verify"] + left).status == 0, "\(place)")
        try expectCopies(left, give: count)
      }
      guard isKilled else {
        // First the earlier set, from one call on the new one.
        #expect(found == found.sorted() && found.last == 3, "\(place): \(found)")
        states.formUnion(found)
        found = []
        return
      }
      try #require(try desk.run(newer).status == 0)
      let numbered = try Self.names(in: desk)
      #expect(numbered == (1...numbered.count).map { "changes.00\($0)" }, "\(place)")
      #expect(try transactions(numbered.map(desk.path)) == 3)
    }
    // At each rename after the first, at each removal, and at what makes them last.
    #expect(betweenCount >= earlier.count && states == [2, 3])
  }

  /// All files that are there, elsewhere.
  private func expectCopies(_ files: [String], give count: Int) throws {
    let media = laptop.path("media-\(UUID().uuidString)")
    try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: false)
    let copies = try files.map { file in
      let copy = "\(media)/\((file as NSString).lastPathComponent)"
      try FileManager.default.copyItem(atPath: file, toPath: copy)
      return copy
    }
    #expect(try transactions(copies) == count)
  }
}
