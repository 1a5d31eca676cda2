import Foundation
import Godwit
import GodwitBase
import GodwitModel
import GodwitReplication

/// What believing nothing costs: refusing a file at its header, and keeping the hash of the state (Specs/limits.md,
/// Specs/state-hash.md).
let arrivalBenchmarks = [
  Benchmark(group: "arrival", name: "1 GiB by a former member, refused", budget: .microseconds(5_000)) { context in
    let scene = try await FormerMember(context, "refused")
    let files = 20
    return Benchmark.Sides(
      subject: { for _ in 0..<files { try await scene.refuse() } }, finish: { await scene.close() }, units: files)
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
    group: "arrival", name: "hash of inserted rows", baseline: "their captured insert, 1,000 a transaction", budget: 0.03
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

/// A replica, and a file for it of 1 GiB by somebody who was removed: one that begins as a sync file does.
private final class FormerMember: Sendable {
  private let reader: Replica
  private let file: String

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
    try await insert(CapturedRow.make(100), into: former, batch: 1)
    let file = "\(pair.folder)/former"
    _ = try await former.export(to: .file(file))
    try await pair.sender.removeMember(named: "receiver-2")
    try await tell()
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
    try handle.truncate(atOffset: 1 << 30)
    try handle.close()
    await former.close()
    await pair.sender.close()
    self.reader = reader
    self.file = file
  }

  func refuse() async throws {
    do {
      _ = try await reader.import(from: .file(file))
    } catch let error as GodwitError where error.code == .unknownSender {
      return
    }
    throw GodwitError(.invalidArgument, "the file of a former member was taken in")
  }

  func close() async { await reader.close() }
}
