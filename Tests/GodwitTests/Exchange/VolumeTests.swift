import Foundation
import Godwit
import GodwitBase
import Testing

@Suite("A file in volumes")
struct VolumeTests {
  private let group: TestGroup
  private let path: String
  /// Text that does not compress, so that it takes several volumes.
  private static let marker = "PLAINTEXT-MARKER-OF-A-NOTE"

  init() async throws {
    group = try await TestGroup(2)
    path = group.folder.file("changes")
    try await write()
  }

  private func write() async throws {
    try await group[0].write { transaction in
      var generator = SystemRandomNumberGenerator()
      for _ in 0..<40 {
        let body = (0..<60).map { _ in String(generator.next(), radix: 36) }.joined()
        try transaction.insert(Note(title: Self.marker, body: body))
      }
    }
  }

  private func export(_ byteCount: Int = 8_192, all: Bool = false) async throws -> ExportReport {
    try await group[0].export(to: .volumes(path, byteCount: byteCount), includesAll: all)
  }

  private func read(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
  private func save(_ data: Data, _ path: String) throws { try data.write(to: URL(fileURLWithPath: path)) }

  /// The error of an import, which must have changed nothing and have a hint.
  private func refusal(
    _ source: SyncSource, at location: SourceLocation = #_sourceLocation
  ) async throws -> GodwitError? {
    let before = try await group[1].maintenance.digest()
    let error = await error { try await group[1].import(from: source) }
    #expect(try await group[1].maintenance.digest() == before, sourceLocation: location)
    #expect(try await group[1].status().staged == 0, sourceLocation: location)
    #expect(error?.hint != nil, "\(String(describing: error))", sourceLocation: location)
    return error
  }

  @Test("none is larger than asked for, each is named by its number, and together they are an ordinary age file")
  func cutting() async throws {
    let report = try await export()
    #expect(report.volumes.count >= 3)
    #expect(report.volumes == (1...report.volumes.count).map { "\(path).00\($0)" })
    let contents = try report.volumes.map(read)
    #expect(contents.allSatisfy { $0.count <= 8_192 } && contents.dropLast().allSatisfy { $0.count == 8_192 })
    let joined = contents.reduce(Data()) { $0 + $1.dropFirst(121) }
    #expect(joined.count == report.bytes)
    #expect(joined.starts(with: Data("age-encryption.org/v1\n".utf8)))
    #expect(!FileManager.default.fileExists(atPath: path))
    try save(joined, group.folder.file("joined"))
    #expect(try await group[1].import(from: .file(group.folder.file("joined"))).applied.transactions == 1)
    let files = try FileManager.default.contentsOfDirectory(atPath: group.folder.path)
    for name in files where name.hasPrefix("changes") {
      #expect(try !read(group.folder.file(name)).contains(Data(Self.marker.utf8)))
      let mode = try FileManager.default.attributesOfItem(atPath: group.folder.file(name))[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
    #expect(files.allSatisfy { !$0.hasSuffix(".tmp") })
  }

  @Test("they are applied in any order, once, as one file")
  func anyOrder() async throws {
    let volumes = try await export().volumes
    for order in [volumes, volumes.reversed(), volumes.shuffled()] {
      let plan = try await group[1].plan(importing: .volumes(order))
      #expect(plan.report.applied.transactions == 1)
    }
    #expect(try await group[1].import(from: .volumes(volumes.shuffled())).applied.transactions == 1)
    #expect(try await group[1].import(from: .volumes(volumes)).applied.duplicates == 1)
    #expect(try await group.digests().count == 1)
  }

  @Test("readers see all of them or nothing while they are applied")
  func readers() async throws {
    let volumes = try await export().volumes
    let receiver = group[1]
    async let counts = Self.watch(receiver)
    _ = try await receiver.import(from: .volumes(volumes))
    #expect(Set(try await counts).isSubset(of: [0, 40]))
    #expect(try await receiver.count(Note.all) == 40)
  }

  /// How many notes there are, asked until there are all.
  private static func watch(_ replica: Replica) async throws -> [Int] {
    var counts: [Int] = []
    repeat { counts.append(try await replica.count(Note.all)) } while counts.last != 40 && counts.count < 100_000
    return counts
  }

  @Test("one that is enough for all is a set of its own, also given as a file")
  func single() async throws {
    let report = try await export(1 << 20)
    #expect(report.volumes == ["\(path).001"])
    #expect(try await group[1].import(from: .file("\(path).001")).applied.transactions == 1)
  }

  @Test("a state file can be cut, too")
  func stateFile() async throws {
    let report = try await group[0].exportState(to: .volumes(path, byteCount: 8_192))
    #expect(report.volumes.count >= 3)
    #expect(try await group[1].import(from: .volumes(report.volumes)).applied.transactions == 1)
    #expect(try await group.digests().count == 1)
  }

  @Test("a missing one is named, whichever it is and however few are given")
  func missing() async throws {
    let volumes = try await export().volumes
    for index in volumes.indices {
      var rest = volumes
      let left = rest.remove(at: index)
      let error = try await refusal(.volumes(rest))
      #expect(error?.code == .missingVolume)
      #expect(error?.message.contains(left) == true, "\(error?.message ?? "")")
      let alone = try await refusal(.file(left))
      #expect(alone?.code == .missingVolume)
      for other in rest { #expect(alone?.message.contains(other) == true, "\(alone?.message ?? "")") }
    }
  }

  @Test("one that is given twice is named")
  func doubled() async throws {
    let volumes = try await export().volumes
    let copy = group.folder.file("copy")
    try save(try read(volumes[1]), copy)
    let error = try await refusal(.volumes(volumes + [copy]))
    #expect(error?.code == .wrongVolume)
    #expect(error?.message.contains(copy) == true && error?.message.contains(volumes[1]) == true)
  }

  @Test("one of another set is named, also when it is of another export of the same changes")
  func mixed() async throws {
    let volumes = try await export().volumes
    let other = group.folder.file("other")
    let others = try await group[0].export(to: .volumes(other, byteCount: 8_192)).volumes
    #expect(others.count == volumes.count)
    let error = try await refusal(.volumes([volumes[0], others[1]] + volumes[2...]))
    #expect(error?.code == .wrongVolume)
    #expect(error?.message.contains(others[1]) == true)
    // Given one set's and the other's, each is applied for itself.
    let sources = SyncSource.grouping(volumes + others.reversed())
    #expect(sources.count == 2)
    for source in sources { _ = try await group[1].import(from: source) }
    #expect(try await group.digests().count == 1)
  }

  @Test("a changed byte names the volume, in its header and wherever in its body")
  func changed() async throws {
    let volumes = try await export().volumes
    let victim = volumes[2]
    let whole = try read(victim)
    for position in [0, 8, 10, 30, 60, 100, 120, 121, 200, whole.count / 2, whole.count - 1] {
      var content = whole
      content[position] ^= 0x10
      try save(content, victim)
      let error = try await refusal(.volumes(volumes))
      let code: GodwitError.Code? = position == 8 ? .unsupportedVersion : .corruptFile
      #expect(error?.code == code, "byte \(position): \(String(describing: error))")
      #expect(error?.message.contains(victim) == true, "byte \(position): \(error?.message ?? "")")
    }
    try save(whole, victim)
    #expect(try await group[1].import(from: .volumes(volumes)).applied.transactions == 1)
  }

  @Test("one that is cut or extended is named")
  func cut() async throws {
    let volumes = try await export().volumes
    for victim in [volumes[0], volumes[volumes.count - 1]] {
      let whole = try read(victim)
      for length in [0, 7, 50, 121, whole.count - 1] {
        try save(whole.prefix(length), victim)
        let error = try await refusal(.volumes(volumes))
        #expect(error?.code == .truncatedFile, "\(length) bytes: \(String(describing: error))")
        #expect(error?.message.contains(victim) == true)
      }
      try save(whole + Data([0]), victim)
      let error = try await refusal(.volumes(volumes))
      #expect(error?.code == .corruptFile && error?.message.contains(victim) == true)
      try save(whole, victim)
    }
  }

  @Test("something else among them is named")
  func somethingElse() async throws {
    let volumes = try await export().volumes
    let stranger = group.folder.file("letter")
    try save(Data(repeating: 0x20, count: 300), stranger)
    let error = try await refusal(.volumes(volumes.dropLast() + [stranger]))
    #expect(error?.code == .corruptFile && error?.message.contains(stranger) == true)
    let nowhere = group.folder.file("nowhere")
    #expect(await code { try await group[1].import(from: .volumes(volumes + [nowhere])) } == .fileAccess)
    #expect(try await refusal(.volumes([]))?.code == .invalidArgument)
  }

  @Test("a shorter set replaces a longer one whole")
  func replaced() async throws {
    let longer = try await export().volumes
    let shorter = try await export(16_384).volumes
    #expect(shorter.count < longer.count)
    let left = try FileManager.default.contentsOfDirectory(atPath: group.folder.path).filter { $0.hasPrefix("changes") }
    #expect(Set(left.map { group.folder.file($0) }) == Set(shorter))
    #expect(try await group[1].import(from: .volumes(shorter)).applied.transactions == 1)
  }

  @Test("a file of somebody else's beyond the last volume stays")
  func bystander() async throws {
    let count = try await export().volumes.count
    let bystander = "\(path).00\(count + 1)"
    try save(Data("mine".utf8), bystander)
    _ = try await export()
    #expect(try read(bystander) == Data("mine".utf8))
  }

  @Test("a file of somebody else's where the first volume is meanwhile is not replaced, and nothing is")
  func inTheWay() async throws {
    let volumes = try await export().volumes
    try save(Data("mine".utf8), "\(path).001.new")
    let before = try volumes.map(read)
    let error = await error { try await export(16_384) }
    #expect(error?.code == .invalidArgument && error?.message.contains("\(path).001.new") == true)
    #expect(try read("\(path).001.new") == Data("mine".utf8))
    #expect(try volumes.map(read) == before)
    #expect(try await group[1].import(from: .volumes(volumes)).applied.transactions == 1)
  }

  @Test("a pipe by the name of a volume is in the way, and nobody waits at it", .timeLimit(.minutes(1)))
  func pipe() async throws {
    let volumes = try await export().volumes
    try #require(mkfifo("\(path).001.new", 0o600) == 0)
    #expect(await code { try await export(16_384) } == .invalidArgument)
    #expect(try await group[1].plan(importing: .volumes(volumes)).report.applied.transactions == 1)
    for source in SyncSource.grouping(volumes) {
      #expect(try await group[1].plan(importing: source).report.applied.transactions == 1)
    }
    unlink("\(path).001.new")
    // Where a volume of an earlier, longer set would be, and behind it, damaged, one that is.
    try #require(mkfifo("\(path).\(String(format: "%03d", volumes.count + 1))", 0o600) == 0)
    let damaged = "\(path).\(String(format: "%03d", volumes.count + 3))"
    try save(try read(volumes[0]).prefix(20), damaged)
    #expect(try await export().volumes == volumes)
    #expect(!FileManager.default.fileExists(atPath: damaged))
    let last = "\(path).\(String(format: "%03d", volumes.count + 1))"
    #expect(await code { try await group[1].import(from: .volumes(volumes + [last])) } == .fileAccess)
  }

  @Test("several at once to one name leave the set of one of them")
  func concurrent() async throws {
    let sizes = [4_096, 8_192, 12_288, 16_384]
    for _ in 0..<5 {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for size in sizes {
          let (replica, path) = (group[0], path)
          tasks.addTask { _ = try await replica.export(to: .volumes(path, byteCount: size), includesAll: true) }
        }
        try await tasks.waitForAll()
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: group.folder.path)
      let left = files.filter { $0.hasPrefix("changes") }.map { group.folder.file($0) }
      #expect(left.allSatisfy { !$0.hasSuffix(".tmp") && !$0.hasSuffix(".new") }, "\(left)")
      #expect(try await group[1].plan(importing: .volumes(left)).report.applied.transactions == 1)
    }
  }

  @Test("sizes that make no sense leave nothing behind, and the old set in place")
  func sizes() async throws {
    let volumes = try await export().volumes
    #expect(await code { try await export(4_095) } == .invalidArgument)
    try await group[0].write { transaction in
      var generator = SystemRandomNumberGenerator()
      for _ in 0..<700 {
        let body = (0..<900).map { _ in String(generator.next(), radix: 36) }.joined()
        try transaction.insert(Note(title: Self.marker, body: body))
      }
    }
    #expect(await code { try await export(4_096) } == .limitExceeded)
    let left = try FileManager.default.contentsOfDirectory(atPath: group.folder.path).filter { $0.hasPrefix("changes") }
    #expect(Set(left.map { group.folder.file($0) }) == Set(volumes))
    #expect(try await group[1].import(from: .volumes(volumes)).applied.transactions == 1)
  }
}
