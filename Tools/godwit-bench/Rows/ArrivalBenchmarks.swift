import Foundation
import Godwit
import GodwitBase
import GodwitKeys
import GodwitModel
import GodwitCore
import GodwitSyncFile

/// What believing nothing costs: refusing a file at its header, and keeping the hash of the state (Specs/limits.md,
/// Specs/state-hash.md).
let arrivalBenchmarks =
  [
    Benchmark(
      group: "arrival", name: "1 GiB by a former member, refused", baseline: "the same file before it grew", budget: 1.5
    ) { context in
      let scene = try await FormerMember(context, "refused")
      let files = 20
      return Benchmark.Sides(
        subject: { for _ in 0..<files { try await scene.refuse() } },
        baseline: { for _ in 0..<files { try await scene.refuseSmall() } }, finish: { await scene.close() },
        units: files)
    },
    Benchmark(
      group: "arrival", name: "memory of that", baseline: "2 MiB", budget: 1, unit: "MiB"
    ) { context in
      let scene = try await FormerMember(context, "refused-memory")
      try await scene.refuse()
      let growth = try await ResidentMemory.growth { for _ in 0..<5 { try await scene.refuse() } }
      await scene.close()
      return (growth, 2)
    },
    Benchmark(
      group: "arrival", name: "hash of inserted rows", baseline: "their captured insert, 1,000 a transaction",
      budget: 0.03
    ) { context in
      let replica = try await openReplica(context, "state-hash")
      let source = RowSource<CapturedRow>(context.rowCount)
      try await insert(source.current, into: replica, batch: 1_000)
      let encoded = try await replica.rows("SELECT id, title, body, views, created FROM captured").map { row in
        var writer = ByteWriter(capacity: 128)
        for value in row.values { writer.value(value) }
        return writer.bytes
      }
      let hash = TableHash(try CapturedRow.schema.definition(), of: replica.group)
      source.renew()
      return Benchmark.Sides(
        subject: {
          var sum = StateSum.zero
          for row in encoded { sum += row.withUnsafeBytes { hash.row(encoded: $0) } }
          try expect(sum == .zero ? 0 : 1, 1)
        },
        baseline: { try await insert(source.current, into: replica, batch: 1_000) },
        reset: { source.renew() }, finish: { await replica.close() }, units: context.rowCount)
    },
  ]
  + HostileFile.Kind.allCases.flatMap { kind in
    [
      Benchmark(
        group: "arrival", name: "hostile file: \(kind.rawValue)", baseline: kind.honestFile.name, budget: 20, unit: "ms"
      ) { context in
        let scene = try await HostileScene(context, "time-\(kind)", kind)
        return (try await scene.hostile().milliseconds, try await scene.honest().milliseconds)
      },
      Benchmark(
        group: "arrival", name: "memory of hostile file: \(kind.rawValue)", baseline: "64 MiB and 64 times its size",
        budget: 1,
        unit: "MiB"
      ) { context in
        let scene = try await HostileScene(context, "memory-\(kind)", kind)
        let idle = try await scene.idle().mebibytes
        return (try await scene.hostile().mebibytes - idle, 64 + 64 * Double(scene.size) / 1_048_576)
      },
    ]
  }

/// A member's hostile file, an honest one of about its size, and readers that have taken in neither.
private final class HostileScene: Sendable {
  let size: Int
  private let folder: String
  private let readers: [String]

  init(_ context: BenchContext, _ name: String, _ kind: HostileFile.Kind) async throws {
    let pair = try await SyncPair(context, name)
    let member = try await pair.makeReceiver()
    var readers: [Replica] = []
    for _ in 0..<2 { readers.append(try await pair.makeReceiver()) }
    folder = pair.folder
    self.readers = readers.map(\.path)
    let told = "\(pair.folder)/told"
    _ = try await pair.sender.export(to: .file(told), includesAll: true)
    for replica in readers + [member] { _ = try await replica.import(from: .file(told)) }
    for reader in readers { await reader.close() }
    let first = "\(pair.folder)/first"
    _ = try await member.export(to: .file(first), includesAll: true)
    let keys = try Keyring.open(
      at: KeyringLocation(keyring: "\(member.path)/keyring", machineKey: "\(member.path)/machine.key"))
    let sealed = try GodwitBase.MemorySource(Array(Data(contentsOf: URL(fileURLWithPath: first))))
    let header = try SyncFileReader(sealed, identities: [keys.identity.ageIdentity]) { _ in
      IdentityHistory(keys.identity.publicIdentity)
    }.header
    let bytes = try HostileFile(kind: kind, honest: header, identity: keys.identity).bytes()
    size = bytes.count
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/hostile"))
    await member.close()
    try await Self.writeHonest(kind.honestFile, at: member.path, hostileSize: size, to: "\(folder)/honest")
    await pair.sender.close()
  }

  private static func writeHonest(
    _ honest: HostileFile.Honest, at path: String, hostileSize: Int, to file: String
  ) async throws {
    let member = try await Replica.open(at: path, models: CapturedRow.self, PlainRow.self)
    switch honest {
    // A row takes some 50 bytes of a file.
    case .size: try await insert(CapturedRow.make(max(100, hostileSize / 50)), into: member, batch: 1_000)
    case .operations(let count):
      try await member.write { transaction in
        for number in 0..<count { try transaction.insert(PlainRow(id: number, x: number + 1)) }
      }
    case .edits(let count):
      try await member.write { try $0.insert(PlainRow(id: 1)) }
      for number in 0..<count { try await member.write { try $0.update(PlainRow(id: 1, x: number)) } }
    }
    _ = try await member.export(to: .file(file))
    await member.close()
  }

  func hostile() async throws -> ResidentMemory.Cost {
    try await ResidentMemory.ofImport("\(folder)/hostile", into: readers[0], mayBeRefused: true)
  }

  func honest() async throws -> ResidentMemory.Cost {
    try await ResidentMemory.ofImport("\(folder)/honest", into: readers[1])
  }

  /// What a process takes that imports what it has already.
  func idle() async throws -> ResidentMemory.Cost {
    try await ResidentMemory.ofImport("\(folder)/told", into: readers[1])
  }
}

/// A replica, and a file for it of 1 GiB by somebody who was removed: one that begins as a sync file does.
private final class FormerMember: Sendable {
  private let reader: Replica
  private let file: String
  private let smallFile: String

  init(_ context: BenchContext, _ name: String) async throws {
    let pair = try await SyncPair(context, name)
    let (reader, former) = (try await pair.makeReceiver(), try await pair.makeReceiver())
    try await insert(CapturedRow.make(100), into: pair.sender, batch: 100)
    let told = "\(pair.folder)/told"
    func tell() async throws {
      _ = try await pair.sender.export(to: .file(told), includesAll: true)
      _ = try await reader.import(from: .file(told))
    }
    try await tell()
    _ = try await former.import(from: .file(told))
    // More than one chunk of age: what stands behind the first is never read.
    try await insert(CapturedRow.make(5_000), into: former, batch: 1_000)
    let file = "\(pair.folder)/former"
    _ = try await former.export(to: .file(file))
    try await pair.sender.members.remove("receiver-2")
    try await tell()
    smallFile = "\(file)-small"
    try FileManager.default.copyItem(atPath: file, toPath: smallFile)
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    try handle.truncate(atOffset: 1 << 30)
    try handle.close()
    await former.close()
    await pair.sender.close()
    self.reader = reader
    self.file = file
  }

  func refuse() async throws { try await refuse(file) }

  func refuseSmall() async throws { try await refuse(smallFile) }

  private func refuse(_ file: String) async throws {
    do {
      _ = try await reader.import(from: .file(file))
    } catch let error as GodwitError where error.code == .unknownSender {
      return
    }
    throw GodwitError(.invalidArgument, "the file of a former member was taken in")
  }

  func close() async { await reader.close() }
}
