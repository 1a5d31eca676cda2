import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitSimulation

/// Real replicas for a merge vector, by name. Names given at the start are in the order of the replicas' IDs, so that
/// a vector can say who wins where nothing but the origin decides.
final class VectorGroup {
  struct Place {
    var replica: Replica
    let clock: TestClock
    /// What the group calls it.
    let member: String
  }

  let folder: TemporaryFolder
  private(set) var names: [String]
  private(set) var places: [String: Place] = [:]
  private var files: [String: String] = [:]

  /// Members of one group that know each other, with the vector's tables and nothing in them.
  convenience init(_ vector: MergeVector) async throws {
    try await self.init(names: vector.replicas) { vector.ownTables[$0] ?? vector.tables }
  }

  init(names: [String], tables: (String) -> [TableDefinition] = { _ in [] }) async throws {
    folder = try TemporaryFolder()
    self.names = names
    var opened: [Place] = []
    for number in names.indices {
      let path = folder.file("member-\(number)")
      if let first = opened.first {
        let identity = try await Replica.identity(at: path)
        let invitation = folder.file("invitation")
        try await first.replica.members.invite(
          identity, name: "member-\(number)", verification: .trustOnFirstUse, to: .file(invitation))
        await (try Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
      }
      let clock = TestClock()
      opened.append(Place(replica: try await Self.open(path, clock), clock: clock, member: "member-\(number)"))
    }
    // Members learn of each other from the founder.
    for member in opened.dropFirst() { _ = try await carry(from: opened[0].replica, to: member.replica, in: folder) }
    opened.sort { $0.replica.identity.replica < $1.replica.identity.replica }
    for (name, place) in zip(names, opened) {
      places[name] = place
      for table in tables(name) { try await place.replica.makeTable(table) }
    }
    var order = SeededGenerator(seed: 0)
    try await exchange(&order, isPlain: true)
  }

  private static func open(_ path: String, _ clock: TestClock) async throws -> Replica {
    try await Replica.open(
      at: path, models: [], configuration: .init(key: .keyring(), logger: .init(label: "test")),
      wallClock: clock.wallClock)
  }

  func close() async {
    for place in places.values { await place.replica.close() }
  }

  subscript(name: String) -> Place {
    get throws { try #require(places[name], "no replica is called \(name)") }
  }

  func name(of replica: ReplicaID) -> String {
    names.first { places[$0]?.replica.identity.replica == replica } ?? replica.description
  }

  // MARK: Time and lives

  func advanceAll(_ milliseconds: Int64) {
    for place in places.values { place.clock.advance(milliseconds) }
  }

  func restart(_ name: String) async throws {
    let place = try self[name]
    await place.replica.close()
    places[name]?.replica = try await Self.open(place.replica.path, place.clock)
  }

  /// A copy of the whole folder, as a backup or a second machine has it.
  func copy(_ name: String, as new: String) async throws {
    let place = try self[name]
    let path = folder.file("copy-\(names.count)")
    try FileManager.default.copyItem(atPath: place.replica.path, toPath: path)
    let clock = TestClock(place.clock.wallClock.milliseconds())
    places[new] = Place(replica: try await Self.open(path, clock), clock: clock, member: place.member)
    names.append(new)
  }

  func readmit(_ name: String, by host: String) async throws {
    let place = try self[name]
    advanceAll(10)
    try await self[host].replica.members.invite(
      place.replica.identity, name: place.member, verification: .trustOnFirstUse,
      to: .file(folder.file(UUID().uuidString)))
  }

  /// Imports the file on copies of the replica, each stopped after another statement, and says what is wrong with what
  /// they left behind: they must hold what was there before or what comes of the whole file, and take the file again.
  func kill(_ file: String, to name: String) async throws -> [String] {
    let place = try self[name]
    let before = try await place.replica.maintenance.digest()
    let source = SyncSource.file(try path(of: file))
    var (problems, ends): ([String], Set<String>) = ([], [])
    await place.replica.close()
    var isFinished = false
    for round in 1... where !isFinished {
      let path = folder.file("killed-\(round)")
      let remains = folder.file("remains-\(round)")
      try FileManager.default.copyItem(atPath: place.replica.path, toPath: path)
      let counter = StatementCounter()
      let replica = try await Replica.open(
        at: path, models: [], configuration: .init(key: .keyring(), statements: .redacted, logger: counter.logger),
        wallClock: place.clock.wallClock)
      counter.arm(after: round * round) { try? FileManager.default.copyItem(atPath: path, toPath: remains) }
      _ = try await replica.import(from: source)
      isFinished = counter.disarm()
      let after = try await replica.maintenance.digest()
      await replica.close()
      guard !isFinished else { break }
      let left = try await Self.open(remains, place.clock)
      let found = try await left.maintenance.digest()
      ends.insert(found == before ? "before" : "after")
      if found != before && found != after {
        problems.append("after \(round * round) statements there is something else")
      }
      if try await !left.maintenance.verify().isSound {
        problems.append("after \(round * round) statements it is not sound")
      }
      _ = try await left.import(from: source)
      if try await left.maintenance.digest() != after { problems.append("the file does not complete what was left") }
      await left.close()
    }
    if !ends.contains("before") { problems.append("no import was stopped before its end") }
    places[name]?.replica = try await Self.open(place.replica.path, place.clock)
    return problems
  }

  // MARK: Files

  func keep(_ file: String, from name: String, for member: String?, all: Bool) async throws {
    let path = newPath(of: file)
    let recipient = try member.map { try self[$0].member }
    _ = try await self[name].replica.export(to: .file(path), for: recipient, includesAll: all)
  }

  func deliver(_ file: String, to name: String, rejoins: Bool = false) async throws -> MergeReport {
    let source = SyncSource.file(try path(of: file))
    let replica = try self[name].replica
    return try await rejoins ? replica.rejoin(from: source) : replica.import(from: source)
  }

  func newPath(of file: String) -> String {
    let path = folder.file("kept-\(UUID().uuidString)")
    files[file] = path
    return path
  }

  func path(of file: String) throws -> String { try #require(files[file], "no file is called \(file)") }

  private func hand(_ sender: String, _ receiver: String) async throws {
    let path = folder.file(UUID().uuidString)
    defer { unlink(path) }
    _ = try await self[sender].replica.export(to: .file(path))
    _ = try await self[receiver].replica.import(from: .file(path))
  }

  /// Everything goes to everyone. Unless it is plain, files go astray before: some are late, some come twice, in an
  /// order of the generator's.
  func exchange(_ random: inout SeededGenerator, isPlain: Bool) async throws {
    var pairs = names.flatMap { sender in names.map { (sender, $0) } }.filter { sender, receiver in
      places[sender]?.replica.identity.replica != places[receiver]?.replica.identity.replica
    }
    if !isPlain {
      var late: [(path: String, receiver: String)] = []
      for _ in 0..<2 * names.count {
        guard let (sender, receiver) = pairs.randomElement(using: &random) else { break }
        let path = folder.file(UUID().uuidString)
        _ = try await self[sender].replica.export(to: .file(path), includesAll: Bool.random(using: &random))
        late.append((path, receiver))
        guard Bool.random(using: &random) else { continue }
        let next = late.remove(at: Int.random(in: late.indices, using: &random))
        _ = try await self[next.receiver].replica.import(from: .file(next.path))
        if Int.random(in: 0..<3, using: &random) == 0 { late.append(next) }
      }
      for file in late.shuffled(using: &random) {
        _ = try await self[file.receiver].replica.import(from: .file(file.path))
      }
    }
    for _ in 0..<2 {
      if !isPlain { pairs.shuffle(using: &random) }
      for (sender, receiver) in pairs { try await hand(sender, receiver) }
    }
  }
}

extension Replica {
  /// The rows that live and that no table shows, by table, in the order of their encoded keys.
  func rowsInLimbo() async throws -> [String: [[Value]]] {
    try await withWriter { writer in
      let tables = MergeTables(writer.connection, catalog: writer.catalog, functions: [])
      let places = try RowPlaces(writer.connection, tables: tables, origins: writer.log.origins)
      let keys = try writer.connection.withStatement("SELECT key FROM godwit_row ORDER BY key") { statement in
        var keys: [RowKey] = []
        while try statement.step() { keys.append(try RowKey(bytes: statement.blob(at: 0))) }
        return keys
      }
      var found: [String: [[Value]]] = [:]
      for key in keys {
        guard let row = try places.load(key), !row.isShown else { continue }
        var reader = ByteReader(key.key)
        let definition = try tables[key.table].definition
        let values = try (0..<definition.keyCount).map { _ in try reader.value() }
        found[definition.name, default: []].append(values)
      }
      return found
    }
  }
}
