import Foundation
import Godwit
import Testing

@Suite("Several files of one export, at random")
struct SeveralFilesPropertyTests {
  private static let writers = 3

  /// Three replicas that write and meet at random, and four that have nothing yet.
  private func scene(_ random: inout SeededGenerator) async throws -> TestGroup {
    let group = try await TestGroup(Self.writers + 4)
    // Who wrote is known to all.
    for index in 1..<Self.writers { try await group.send(from: 0, to: index) }
    for _ in 0..<Int.random(in: 6...14, using: &random) {
      let writer = Int.random(in: 0..<Self.writers, using: &random)
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let byteCount = Int.random(in: 1...100, using: &random) == 1 ? 60_000 : Int.random(in: 10...900, using: &random)
        try await group[writer].writeNoise(byteCount)
      }
      let receiver = Int.random(in: 0..<Self.writers, using: &random)
      if receiver != writer { try await group.send(from: writer, to: receiver) }
    }
    for index in 1..<Self.writers { try await group.send(from: index, to: 0) }
    return group
  }

  @Test("each is within the limit, and in whatever order they come, all hold the same", arguments: 1...12)
  func orders(seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let group = try await scene(&random)
    let limit = Int.random(in: 16_384...80_000, using: &random)
    let path = group.folder.file("changes")
    let report = try await group[0].export(to: .files(path, maximumByteCount: limit), includesAll: true)
    for file in report.files {
      let size = try Data(contentsOf: URL(fileURLWithPath: file.path)).count
      #expect(size == file.bytes && (size > limit) == file.exceedsLimit)
      #expect(!file.exceedsLimit || file.transactions == 1, "\(file), limit \(limit)")
    }
    let whole = group.folder.file("whole")
    let single = try await group[0].export(to: .file(whole), includesAll: true)
    #expect(single.transactions == report.transactions)
    let files = report.files.map(\.path)
    let missing = Int.random(in: files.indices, using: &random)
    let late = files.enumerated().filter { $0.offset != missing }.map(\.element) + [files[missing]]
    let orders = [[whole], files, files.shuffled(using: &random), late]
    for (offset, order) in orders.enumerated() {
      let replica = group[Self.writers + offset]
      for file in order {
        let merge = try await replica.import(from: .file(file))
        #expect(merge.attention.isEmpty, "seed \(seed), \(offset): \(merge.attention)")
      }
      #expect(try await replica.status().staged == 0, "seed \(seed), \(offset)")
      #expect(try await replica.maintenance.digest() == group[0].maintenance.digest(), "seed \(seed), \(offset)")
      #expect(try await replica.maintenance.verify().problems == [])
    }
    try await passOn(group, limit, &random)
  }

  /// Those that got parts write, and give what they have to the others in parts.
  private func passOn(_ group: TestGroup, _ limit: Int, _ random: inout SeededGenerator) async throws {
    for offset in 0..<4 { try await group[Self.writers + offset].writeNoise(100) }
    for sender in group.replicas.indices.dropFirst().shuffled(using: &random) {
      let path = group.folder.file("back-\(sender)")
      let report = try await group[sender].export(to: .files(path, maximumByteCount: limit), includesAll: true)
      for file in report.files.shuffled(using: &random) {
        #expect(try await group[0].import(from: .file(file.path)).attention.isEmpty)
      }
    }
    #expect(try await group[0].status().staged == 0)
    try await group.settle()
    #expect(try await group.digests().count == 1)
  }
}
