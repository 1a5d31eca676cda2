import Foundation
import Godwit
import GodwitCrypto
import GodwitKeys
import GodwitSyncFile
import Synchronization

/// What exchanging changes costs, against what the same rows cost by hand.
let mergeBenchmarks = [
  Benchmark(group: "merge", name: "import, new rows", baseline: "raw inserts of the same rows", budget: 1.6) {
    context in
    let pair = try await SyncPair(context, "import-new")
    let rows = CapturedRow.make(context.rowCount)
    try await insert(rows, into: pair.sender, batch: 1_000)
    try await pair.prepareImport(includesAll: true)
    let bare = BareSeries(context, "import-new-bare", bareRows(rows))
    return Benchmark.Sides(
      subject: { try expect(try await pair.runImport().applied.rows, rows.count) },
      baseline: { try await bare.insert() },
      reset: { try await pair.prepareImport(includesAll: true) }, finish: { await pair.close() },
      units: context.rowCount)
  },
  Benchmark(
    group: "merge", name: "import, one-column edits of half the rows", baseline: "raw updates of the same rows",
    budget: 2.0
  ) { context in
    try await edits(context, "import-edits", isConcurrent: false)
  },
  Benchmark(
    group: "merge", name: "import, the same edits, merged", baseline: "raw updates of the same rows", budget: 2.3
  ) { context in
    try await edits(context, "import-merged", isConcurrent: true)
  },
  Benchmark(group: "merge", name: "export of all", baseline: "full scan, zstd -3, age", budget: 2.0) { context in
    let pair = try await SyncPair(context, "export-all")
    let rows = CapturedRow.make(context.rowCount)
    try await insert(rows, into: pair.sender, batch: 1_000)
    try await pair.prepareImport(includesAll: true)
    let bare = BareSeries(context, "export-all-bare", bareRows(rows))
    try await bare.insert()
    let recipient = pair.sender.identity.recipient
    return Benchmark.Sides(
      subject: { _ = try await pair.sender.export(to: .file("\(pair.folder)/all"), includesAll: true) },
      baseline: { try await bare.seal(to: recipient, "\(pair.folder)/bare") },
      finish: { await pair.close() }, units: context.rowCount)
  },
  Benchmark(
    group: "merge", name: "bytes of new rows", baseline: "session changeset, zstd -3, age", budget: 0.8, unit: "bytes"
  ) { context in
    let pair = try await SyncPair(context, "bytes-new")
    let rows = CapturedRow.make(context.rowCount)
    try await insert(rows, into: pair.sender, batch: 1_000)
    try await pair.prepareImport(includesAll: true)
    var changeset = SessionChangeset(table: "captured", columns: 5)
    for row in bareRows(rows) { changeset.insert(row) }
    return (try await pair.fileSize(), try sealedSize(changeset.bytes, pair))
  },
  Benchmark(
    group: "merge", name: "bytes of one-column edits", baseline: "session changeset, zstd -3, age", budget: 0.8,
    unit: "bytes"
  ) { context in
    let pair = try await SyncPair(context, "bytes-edits")
    let rows = CapturedRow.make(context.rowCount)
    try await insert(rows, into: pair.sender, batch: 1_000)
    try await pair.prepareImport(includesAll: true)
    try await pair.runImport()
    try await pair.acknowledge()
    let edited = try await edit(Array(rows.prefix(rows.count / 2)), by: 1, in: pair.sender)
    try await pair.prepareImport(includesAll: false, keeping: true)
    var changeset = SessionChangeset(table: "captured", columns: 5)
    for row in edited { changeset.update(BareDatabase.Key(row.id), views: row.views - 1, to: row.views) }
    return (try await pair.fileSize(), try sealedSize(changeset.bytes, pair))
  },
  Benchmark(
    group: "merge", name: "export of 100 changes in ten times the rows", baseline: "the same in a hundredth of those",
    budget: 1.5
  ) { context in
    let sides = [
      try await SmallExport(context, "small-large", context.rowCount * 10),
      try await SmallExport(context, "small-small", max(100, context.rowCount / 10)),
    ]
    return Benchmark.Sides(
      subject: { try await sides[0].export() }, baseline: { try await sides[1].export() },
      reset: { for side in sides { try await side.change() } },
      finish: { for side in sides { await side.pair.close() } }, units: 100)
  },
  Benchmark(
    group: "merge", name: "size once all have acknowledged", baseline: "the same tables without sync", budget: 1.02,
    unit: "MiB"
  ) { context in
    try await sizes(context)
  },
  Benchmark(
    group: "merge", name: "peak memory, import of ten times the rows", baseline: "import of a tenth", budget: 1.3,
    unit: "MiB"
  ) { context in
    let small = try await importPeak(context, "peak-1", context.rowCount)
    let large = try await importPeak(context, "peak-10", context.rowCount * 10)
    return (large, small)
  },
  Benchmark(
    group: "merge", name: "peak memory, state file of ten times the rows", baseline: "state file of a tenth",
    budget: 1.3,
    unit: "MiB"
  ) { context in
    let small = try await importPeak(context, "state-file-1", context.rowCount, isStateFile: true)
    let large = try await importPeak(context, "state-file-10", context.rowCount * 10, isStateFile: true)
    return (large, small)
  },
  Benchmark(
    group: "merge", name: "10,000 changes among 64 replicas", baseline: "the same among 2", budget: 1.5
  ) { context in
    let many = try await Crowd(context, "crowd-64", 64)
    let few = try await Crowd(context, "crowd-2", 2)
    return Benchmark.Sides(
      subject: { try await many.exchange() }, baseline: { try await few.exchange() },
      reset: { for crowd in [many, few] { try await crowd.circulate() } },
      finish: { for crowd in [many, few] { await crowd.close() } }, units: 10_000)
  },
]

/// Half the rows get another count, in batches of 1,000. With `isConcurrent` the receiver has edited a row of its own
/// meanwhile, so that nothing can be applied as it stands.
private func edits(_ context: BenchContext, _ name: String, isConcurrent: Bool) async throws -> Benchmark.Sides {
  let pair = try await SyncPair(context, name)
  let rows = CapturedRow.make(context.rowCount)
  try await insert(rows, into: pair.sender, batch: 1_000)
  try await pair.prepareImport(includesAll: true)
  try await pair.runImport()
  let half = Mutex(Array(rows.prefix(rows.count / 2)))
  let last = rows[rows.count - 1].id
  let bare = BareSeries(context, "\(name)-bare", bareRows(rows))
  try await bare.insert()
  @Sendable func prepare() async throws {
    try await pair.acknowledge()
    let edited = try await edit(half.withLock { $0 }, by: 1, in: pair.sender)
    half.withLock { $0 = edited }
    if isConcurrent {
      try await pair.receiver.write { _ = try $0.execute("UPDATE captured SET body = body || '.' WHERE id = \(last)") }
    }
    try await pair.prepareImport(includesAll: false, keeping: true)
  }
  try await prepare()
  return Benchmark.Sides(
    subject: { try expect(try await pair.runImport().applied.rows, rows.count / 2) },
    baseline: { try await bare.update(half.withLock { $0 }.map { (BareDatabase.Key($0.id), $0.views) }) },
    reset: prepare, finish: { await pair.close() }, units: rows.count / 2)
}

/// Adds to the count of each row and returns the rows as they are then.
func edit(
  _ rows: [CapturedRow], by difference: Int, in replica: Replica, batch: Int = 1_000
) async throws -> [CapturedRow] {
  var edited = rows
  for index in edited.indices { edited[index].views += difference }
  let all = edited
  for start in stride(from: 0, to: all.count, by: batch) {
    let end = min(start + batch, all.count)
    try await replica.write { transaction in
      for index in start..<end {
        try transaction.execute("UPDATE captured SET views = \(all[index].views) WHERE id = \(all[index].id)")
      }
    }
  }
  return all
}

func bareRows(_ rows: [CapturedRow]) -> [BareDatabase.Row] {
  rows.map { row in
    BareDatabase.Row(
      id: BareDatabase.Key(row.id), title: row.title, body: row.body, views: row.views, created: row.created)
  }
}

private func sealedSize(_ bytes: [UInt8], _ pair: SyncPair) throws -> Double {
  let sink = MemorySink()
  let receiver = try pair.receiver.identity.recipient
  let sealer = try AgeSealer(recipients: [pair.sender.identity.recipient, receiver], to: sink)
  try Zstd(level: 3).compress(bytes).withUnsafeBytes { try sealer.write($0) }
  try sealer.finish()
  return Double(sink.count)
}

/// The pages of a database whose rows were written, edited, acknowledged by all and compacted, and of one that never
/// synced and holds the same rows, in MiB.
private func sizes(_ context: BenchContext) async throws -> (Double, Double) {
  let pair = try await SyncPair(context, "sizes")
  let rows = CapturedRow.make(context.rowCount)
  try await insert(rows, into: pair.sender, batch: 1_000)
  try await pair.prepareImport(includesAll: true)
  try await pair.runImport()
  try await pair.acknowledge()
  let edited = try await edit(Array(rows.prefix(rows.count / 2)), by: 1, in: pair.sender)
  try await pair.prepareImport(includesAll: false, keeping: true)
  try await pair.runImport()
  try await pair.acknowledge()
  try await pair.sender.maintenance.compact()
  let synced = try await pair.sender.status().databaseBytes
  await pair.close()
  let bare = BareSeries(context, "sizes-bare", bareRows(rows), isSameTable: true)
  try await bare.insert()
  try await bare.update(edited.map { (BareDatabase.Key($0.id), $0.views) })
  return (Double(synced) / 1_048_576, Double(try await bare.databaseBytes()) / 1_048_576)
}

/// The greatest resident memory of an import, in MiB: of transactions, or of a state whose history is forgotten.
private func importPeak(
  _ context: BenchContext, _ name: String, _ count: Int, isStateFile: Bool = false
) async throws -> Double {
  let pair = try await SyncPair(context, name)
  try await insert(CapturedRow.make(count), into: pair.sender, batch: 1_000)
  if isStateFile {
    try await pair.sender.maintenance.compact()
    guard try await pair.sender.history.log(limit: 1).isEmpty else {
      throw GodwitError(.invalidArgument, "a replica that is alone has kept history")
    }
  }
  try await pair.prepareImport(includesAll: true)
  await pair.close()
  return try await ResidentMemory.ofImport("\(pair.folder)/file.godwit-sync", into: pair.receiver.path).mebibytes
}

/// An export of 100 changes, again and again.
private final class SmallExport: Sendable {
  let pair: SyncPair
  private let rows: Mutex<[CapturedRow]>

  init(_ context: BenchContext, _ name: String, _ count: Int) async throws {
    pair = try await SyncPair(context, name)
    let all = CapturedRow.make(count)
    try await insert(all, into: pair.sender, batch: 1_000)
    rows = Mutex((0..<100).map { all[$0 * (count / 100)] })
    try await pair.prepareImport(includesAll: true)
    try await pair.runImport()
    try await change()
  }

  func change() async throws {
    try await pair.prepareImport(includesAll: false, keeping: true)
    try await pair.runImport()
    try await pair.acknowledge()
    let edited = try await edit(rows.withLock { $0 }, by: 1, in: pair.sender)
    rows.withLock { $0 = edited }
  }

  func export() async throws {
    let report = try await pair.sender.export(to: .file("\(pair.folder)/small"))
    try expect(report.transactions, 1)
  }
}

/// A group in which all have written and hold everything, of whom two exchange 10,000 changes in 1,000 transactions.
private final class Crowd: Sendable {
  private let pair: SyncPair
  private let others: [Replica]
  private let rows: Mutex<[CapturedRow]>

  init(_ context: BenchContext, _ name: String, _ size: Int) async throws {
    pair = try await SyncPair(context, name)
    var others: [Replica] = []
    for _ in 0..<size - 2 {
      let member = try await pair.makeReceiver()
      try await member.write { _ = try $0.insert(CapturedRow()) }
      others.append(member)
    }
    self.others = others
    let all = CapturedRow.make(10_000)
    try await insert(all, into: pair.sender, batch: 1_000)
    rows = Mutex(all)
    try await pair.prepareImport(includesAll: true)
    try await pair.runImport()
    for _ in 0..<2 { try await circulate() }
  }

  func exchange() async throws {
    let edited = try await edit(rows.withLock { $0 }, by: 1, in: pair.sender, batch: 10)
    rows.withLock { $0 = edited }
    try await pair.prepareImport(includesAll: false, keeping: true)
    try expect(try await pair.runImport().applied.rows, 10_000)
    try await pair.acknowledge()
  }

  /// What has been exchanged goes round by way of all the others, and comes back with what each of them holds.
  func circulate() async throws {
    let circle = [pair.sender] + others + [try pair.receiver, pair.sender]
    for (from, to) in zip(circle, circle.dropFirst()) {
      let file = "\(pair.folder)/circle"
      _ = try await from.export(to: .file(file))
      _ = try await to.import(from: .file(file))
    }
  }

  func close() async {
    for other in others { await other.close() }
    await pair.close()
  }
}
