import Foundation
import Godwit
import GodwitBase
import GodwitCore
import GodwitCrypto
import GodwitEngine
import GodwitFiles
import GodwitKeys
import GodwitRemotes
import GodwitSyncFile

/// A group of many members at one store, to count what that costs one of them. Two are replicas; the others write
/// files as replicas do, by the product's own writer, and there is nothing that these two could see the difference by.
package final class Fleet {
  /// What a sync, or many, cost.
  package struct Cost: Sendable {
    package var requests = 0
    package var bytes = 0
    /// Seconds of this process.
    package var processor = 0.0
  }

  private struct Pattern {
    let changes: [UInt8]
    let place: Int
  }

  private let folder: String
  private let clock = SimulatedClock()
  private let store = SimulatedStore(seed: 1)
  private let group = GroupID(Identifier128(high: 0x666C_6565_74, low: 1))
  private let author: Replica
  private let reader: Replica
  private let keyring: KeyringLocation
  private var others: [FleetMember]
  /// A transaction's changes, as a replica captured them, and where its row's name stands in them.
  private var pattern = Pattern(changes: [], place: 0)

  /// How many rows the others have written.
  private var rows = 0
  /// The bases that were read, by their names.
  private var known: [String: HeaderBase] = [:]

  private static let remote = "store"
  private static let rowName = "row-00000000"

  package init(members: Int, folder: String) async throws {
    self.folder = folder
    // Random ones, as all are: others would pack better.
    var generator = SeededGenerator(seed: 1)
    let identities = try (0..<members).map { _ in
      try Identity.generate(replica: ReplicaID(Identifier128(high: generator.next(), low: generator.next())))
    }
    let group = group
    let records = try identities.enumerated().map { index, identity in
      try MemberRecord.issue(
        group: group, identity: identity.publicIdentity, name: "member-\(index)", status: .active, at: 1,
        by: identities[0])
    }
    var replicas: [Replica] = []
    for index in 0..<2 {
      let path = "\(folder)/replica-\(index)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      chmod(path, 0o700)
      try Keyring.create(
        at: Self.location(path),
        contents: KeyringContents(identity: identities[index], group: group, members: records))
      let machine = MachineClock(clock)
      replicas.append(
        try await Replica.open(
          at: path, models: SimulatedModels.models(at: 0), configuration: .init(key: .keyring(), logger: .silent),
          wallClock: machine.wallClock, incarnations: .seeded(UInt64(index))))
    }
    (author, reader) = (replicas[0], replicas[1])
    keyring = Self.location("\(folder)/replica-0")
    others = identities.dropFirst(2).map { FleetMember($0, in: group) }
  }

  private static func location(_ path: String) -> KeyringLocation {
    KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
  }

  package func close() async { for replica in [author, reader] { await replica.close() } }

  // MARK: What happens

  /// Each member has written two rows, the second one when it held all first ones, and all have taken all.
  package func settle() async throws {
    try await learnPattern()
    for _ in 0..<2 {
      for index in others.indices { try write(index) }
      for _ in 0..<3 {
        clock.advance(60_000)
        try await sync(author)
        try await sync(reader)
      }
    }
  }

  /// What one row costs that a member writes and another takes.
  package struct Change: Sendable {
    /// The sync that publishes it, and the one that takes it and acknowledges that.
    package let made, taken: Cost
    /// A sync without news.
    package let idle: Cost
    /// The size of the file.
    package let bytes: Int
  }

  /// The author writes a row, and the reader takes it.
  package func change() async throws -> Change {
    clock.advance(60_000)
    try await author.write { try $0.insert(Tally(id: UUID().uuidString, word: "one change")) }
    let made = try await cost(of: author)
    let taken = try await cost(of: reader)
    for replica in [author, reader] { try await sync(replica) }
    let idle = try await cost(of: reader)
    return Change(
      made: made.cost, taken: taken.cost, idle: idle.cost, bytes: made.report.published?.bytes ?? 0)
  }

  /// A day in which every member writes one row, and the reader syncs so many times, by a collector's log or by
  /// everybody's mailboxes.
  package func day(syncs: Int, isCollected: Bool) async throws -> Cost {
    var total = Cost()
    var next = others.indices.startIndex
    for number in 1...syncs {
      clock.advance(Int64(86_400_000 / syncs))
      while next < others.count * number / syncs {
        try write(next)
        next += 1
      }
      try await sync(author, isCollecting: isCollected)
      let cost = try await cost(of: reader).cost
      total.requests += cost.requests
      total.bytes += cost.bytes
      total.processor += cost.processor
    }
    return total
  }

  // MARK: Pieces

  /// What a replica writes down for a row, for the others to write the like.
  private func learnPattern() async throws {
    let name = Self.rowName
    try await author.write { try $0.insert(Tally(id: name, word: "one change")) }
    try await sync(author)
    let changes = try writtenChanges()
    guard let place = Self.place(of: Array(Self.rowName.utf8), in: changes) else {
      throw GodwitError(.damagedLog, "a transaction of the fleet is not in its file")
    }
    pattern = Pattern(changes: changes, place: place)
  }

  /// The first transaction's of the author's mailbox.
  private func writtenChanges() throws -> [UInt8] { try open(try mailbox()).next()?.changes ?? [] }

  private static func place(of part: [UInt8], in bytes: [UInt8]) -> Int? {
    bytes.indices.first { bytes[$0...].starts(with: part) }
  }

  private func write(_ index: Int) throws {
    rows += 1
    var changes = pattern.changes
    let name = Array(String(format: "row-%08d", rows).utf8)
    changes.replaceSubrange(pattern.place..<pattern.place + name.count, with: name)
    let base = try base()
    let header = try base?.header ?? open(try mailbox()).header
    others[index].write(changes, upon: header.vector, at: clock.milliseconds)
    let file = try others[index].file(after: header, on: base, at: clock.milliseconds)
    try store.client(2).put("\(RemoteName.mailbox(others[index].mailbox))", file)
  }

  /// The author's mailbox.
  private func mailbox() throws -> String {
    let listed = try store.client(2).list(RemoteName.mailboxes, meter: .init())
    let name = listed.first { RemoteName($0.name)?.origin?.replica == author.identity.replica }?.name
    guard let name else { throw GodwitError(.damagedLog, "the fleet's author has no mailbox") }
    return name
  }

  /// The latest base that lies there, as a member reads it; nil in a small group.
  private func base() throws -> HeaderBase? {
    try store.client(2).list(RemoteName.bases, meter: .init()).last.map { try base(named: $0.name) }
  }

  private func base(named name: String) throws -> HeaderBase {
    if let base = known[name] { return base }
    let base = HeaderBase(try open(name).header)
    known[name] = base
    return base
  }

  private func find(_ hash: ContentHash) throws -> SyncFileHeader? {
    let key = hash.hexadecimal.prefix(16)
    let listed = try store.client(2).list(RemoteName.bases, meter: .init())
    return try listed.first { $0.name.hasSuffix(key) }.map { try base(named: $0.name).header }
  }

  private func open(_ name: String) throws -> SyncFileReader {
    let sink = MemorySink()
    _ = try store.client(2).read(name, into: sink, limit: .max, meter: .init())
    let identities = try Keyring.open(at: keyring).ageIdentities
    return try SyncFileReader(
      AgeEnvelope(MemorySource(sink.bytes)), identities: identities, findBase: find
    ) { _ in .reported(nil) }
  }

  @discardableResult
  private func sync(_ replica: Replica, isCollecting: Bool = false) async throws -> Replica.SyncReport.Remote {
    let report = try await replica.sync(
      over: store.client(replica === author ? 0 : 1), as: Self.remote, isCollecting: isCollecting)
    if let error = report.error { throw error }
    if let refused = report.refused.first { throw refused.error }
    return report
  }

  private func cost(of replica: Replica) async throws -> (cost: Cost, report: Replica.SyncReport.Remote) {
    let (before, start) = (store.counters, Self.processorTime())
    let report = try await sync(replica)
    let after = store.counters
    return (
      Cost(
        requests: after.requests - before.requests, bytes: after.bytes - before.bytes,
        processor: Self.processorTime() - start), report
    )
  }

  /// Seconds of user and system time of this process (getrusage(2)).
  private static func processorTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }
}
