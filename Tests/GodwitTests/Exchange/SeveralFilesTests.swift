import Foundation
import Godwit
import Testing

/// `SyncDestination.files`.
@Suite("Several files of one export")
struct SeveralFilesTests {
  private let group: TestGroup
  private let path: String
  private static let limit = 16_384

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
    path = group.folder.file("changes.godwit-sync")
  }

  private func numbered(_ number: Int) -> String { group.folder.file("changes-00\(number).godwit-sync") }

  private func export(
    _ sender: Int = 0, _ limit: Int = Self.limit, for member: String? = nil, all: Bool = true
  ) async throws -> ExportReport {
    try await group[sender].export(to: .files(path, maximumByteCount: limit), for: member, includesAll: all)
  }

  /// Text that does not compress, in transactions of their own.
  private func write(_ count: Int, of byteCount: Int = 600, by index: Int = 0) async throws {
    for _ in 0..<count { try await group[index].writeNoise(byteCount) }
  }

  private func size(_ path: String) throws -> Int { try Data(contentsOf: URL(fileURLWithPath: path)).count }

  @Test("are ordinary sync files, none larger than asked for, each beginning where the one before it ends")
  func cutting() async throws {
    try await write(80)
    let report = try await export()
    let count = report.files.count
    #expect((4...8).contains(count), "\(report.files)")
    #expect(report.files.map(\.path) == (1...count).map(numbered))
    #expect(report.files.reduce(0) { $0 + $1.bytes } == report.bytes)
    #expect(report.files.reduce(0) { $0 + $1.transactions } == report.transactions && report.transactions == 80)
    #expect(report.files.allSatisfy { !$0.exceedsLimit } && report.earlierFiles.isEmpty)
    var next: UInt64 = 1
    for file in report.files {
      #expect(try file.bytes == size(file.path) && file.bytes <= Self.limit)
      let content = try #require(try await group[1].inspect(.file(file.path)).content)
      #expect(content.signature == .verified && content.ranges.map(\.sequences.lowerBound) == [next])
      next = try #require(content.ranges.first).sequences.upperBound + 1
    }
    #expect(next == 81)
    // All but the last are nearly full.
    #expect(report.files.dropLast().allSatisfy { $0.bytes > Self.limit * 9 / 10 }, "\(report.files)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: group.folder.path).allSatisfy { !$0.hasSuffix(".tmp") })
    for file in report.files {
      let merge = try await group[1].import(from: .file(file.path))
      #expect(merge.applied.transactions == file.transactions)
      #expect(merge.attention.isEmpty && merge.waiting.transactions == 0 && merge.waiting.missing.isEmpty)
    }
    #expect(try await group[1].maintenance.digest() == group[0].maintenance.digest())
  }

  @Test("come in any order; one that is missing loses nothing, and is named")
  func anyOrder() async throws {
    try await write(80)
    let files = try await export().files.map(\.path)
    for file in files.reversed() { _ = try await group[1].import(from: .file(file)) }
    for file in files where file != files[1] {
      let merge = try await group[2].import(from: .file(file))
      #expect(merge.attention.isEmpty)
      #expect(merge.waiting.missing.isEmpty == (file == files[0]))
    }
    #expect(try await group[2].status().staged > 0)
    #expect(try await group[2].import(from: .file(files[1])).waiting.transactions == 0)
    #expect(try await group.digests().count == 1)
    for file in files { #expect(try await group[2].import(from: .file(file)).applied.transactions == 0) }
    for replica in group.replicas { #expect(try await replica.maintenance.verify().problems == []) }
  }

  @Test("cut the work of others, too, and show of each part that it is its author's")
  func others() async throws {
    try await write(40, by: 1)
    try await group.send(from: 1, to: 0)
    try await write(40, by: 1)
    try await group.send(from: 1, to: 0)
    try await write(3, by: 0)
    let files = try await export(for: "replica-2").files
    #expect(files.count >= 4 && files.allSatisfy { $0.bytes <= Self.limit })
    for file in files.shuffled() {
      #expect(try await group[2].import(from: .file(file.path)).attention.isEmpty)
    }
    #expect(try await group[2].status().staged == 0)
    #expect(try await group[2].maintenance.digest() == group[0].maintenance.digest())
    // Who has the parts can show it on.
    let late = try await group[2].export(to: .files(path, maximumByteCount: Self.limit), includesAll: true)
    for file in late.files { #expect(try await group[1].import(from: .file(file.path)).attention.isEmpty) }
    #expect(try await group.digests().count == 1)
  }

  @Test("what a member has after a part of them it passes on, and its own later work is sent once")
  func partly() async throws {
    try await write(60, by: 1)
    try await group.send(from: 1, to: 0)
    let files = try await export(for: "replica-2").files
    #expect(files.count >= 3)
    let first = try await group[2].import(from: .file(files[0].path))
    #expect(first.attention.isEmpty && first.applied.transactions == files[0].transactions)
    try await write(1, by: 2)
    let there = group.folder.file("there")
    let own = try await group[2].export(to: .file(there), for: "replica-0")
    // The sender holds all of the rest, as each file says.
    #expect(own.transactions == 1)
    #expect(try await group[0].import(from: .file(there)).applied.transactions == 1)
    let rest = try await export(for: "replica-2", all: false).files
    #expect(rest.reduce(0) { $0 + $1.transactions } == 60 - files[0].transactions)
    for file in rest { #expect(try await group[2].import(from: .file(file.path)).attention.isEmpty) }
    #expect(try await group[2].maintenance.digest() == group[0].maintenance.digest())
  }

  @Test("a transaction that is larger than the limit is a file of its own, and is named")
  func largeTransaction() async throws {
    try await write(10)
    try await write(1, of: 40_000)
    try await write(10)
    let report = try await export()
    let large = report.files.filter(\.exceedsLimit)
    #expect(large.count == 1 && large.first?.transactions == 1 && (large.first?.bytes ?? 0) > 30_000)
    #expect(report.files.filter { !$0.exceedsLimit }.allSatisfy { $0.bytes <= Self.limit })
    for file in report.files { _ = try await group[1].import(from: .file(file.path)) }
    #expect(try await group[1].maintenance.digest() == group[0].maintenance.digest())
  }

  @Test("what another has signed too far ahead goes into one file, which is named")
  func farAhead() async throws {
    try await group[1].writeMany(2_000)
    try await group.send(from: 1, to: 0)
    let report = try await export(for: "replica-2")
    #expect(report.files.first?.exceedsLimit == true && (report.files.first?.transactions ?? 0) > 1)
    #expect(report.files.dropFirst().allSatisfy { $0.bytes <= Self.limit })
    for file in report.files { #expect(try await group[2].import(from: .file(file.path)).attention.isEmpty) }
    #expect(try await group.digests().count == 1)
  }

  @Test("a state is one file, whatever its size, and is named")
  func stateFile() async throws {
    try await write(60)
    let report = try await group[0].exportState(to: .files(path, maximumByteCount: Self.limit))
    #expect(report.isStateFile && report.files.map(\.path) == [path] && report.files.first?.exceedsLimit == true)
    #expect(try await group[1].import(from: .file(path)).applied.transactions > 0)
    let roomy = try await group[0].exportState(to: .files(path, maximumByteCount: 1 << 20))
    #expect(roomy.files.map(\.exceedsLimit) == [false])
  }

  @Test("one that is enough has the name that was given, also when there is nothing to send")
  func single() async throws {
    try await write(2)
    #expect(try await export().files.map(\.path) == [path])
    try await group.settle()
    let empty = try await export(all: false)
    #expect(empty.transactions == 0 && empty.files.map(\.path) == [path])
  }

  @Test("of an earlier export stay where this one does not replace them, do no harm, and are named")
  func earlier() async throws {
    try await write(80)
    let longer = try await export().files.map(\.path)
    try await write(1)
    let shorter = try await export(0, 32_768)
    let left = longer.dropFirst(shorter.files.count)
    #expect(!left.isEmpty && shorter.earlierFiles == Array(left))
    for file in left + shorter.files.map(\.path) { _ = try await group[1].import(from: .file(file)) }
    #expect(try await group[1].maintenance.digest() == group[0].maintenance.digest())
    let single = try await export(0, 1 << 20)
    #expect(single.files.map(\.path) == [path] && single.earlierFiles == longer)
    #expect(try await export().earlierFiles == [path])
  }

  @Test(
    "names keep their extension",
    arguments: [
      ("a.godwit-sync", "a-001.godwit-sync"), ("a", "a-001"), (".a", ".a-001"), ("a.b.c", "a.b-001.c"),
      ("a.", "a.-001"),
    ])
  func names(given: String, expected: String) async throws {
    try await write(40)
    let folder = group.folder.file("in.side")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let report = try await group[0].export(
      to: .files("\(folder)/\(given)", maximumByteCount: Self.limit), includesAll: true)
    #expect(report.files.first?.path == "\(folder)/\(expected)")
  }

  @Test("a size that is too small, and one with no room for what each file begins with, are refused")
  func sizes() async throws {
    try await write(40)
    let refusal = await error { try await export(0, 16_383) }
    #expect(refusal?.code == .invalidArgument && refusal?.hint?.contains("16K") == true)
    #expect(!FileManager.default.fileExists(atPath: path))
    var many = try await TestGroup(1)
    for _ in 0..<60 { try await many.add() }
    try await many[0].writeNoise(10)
    let (large, place) = (many[0], many.folder.file("changes"))
    let refused = await error { try await large.export(to: .files(place, maximumByteCount: Self.limit)) }
    #expect(refused?.code == .invalidArgument && refused?.hint != nil, "\(String(describing: refused))")
  }

  @Test("a place in a replica's folder is refused for each of them")
  func places() async throws {
    try await write(40)
    let inside = "\(group.path(0))/changes"
    let refusal = await error {
      try await group[0].export(to: .files(inside, maximumByteCount: Self.limit), includesAll: true)
    }
    #expect(refusal?.code == .invalidArgument || refusal?.code == .unsafeFile)
    #expect(!FileManager.default.fileExists(atPath: "\(inside)-001"))
  }
}

extension Replica {
  /// One transaction with text that takes about so many bytes when it is packed.
  func writeNoise(_ byteCount: Int) async throws {
    try await write { transaction in
      var generator = SystemRandomNumberGenerator()
      var body = ""
      while body.utf8.count * 2 / 3 < byteCount { body += String(generator.next(), radix: 36) }
      try transaction.insert(Note(title: "noise", body: body))
    }
  }

  /// So many small transactions.
  func writeMany(_ count: Int) async throws {
    for number in 0..<count { try await write { try $0.insert(Note(title: "\(number)")) } }
  }
}
