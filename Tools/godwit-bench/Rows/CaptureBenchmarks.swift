import Foundation
import Godwit

/// What capturing changes costs: the same call on a captured and on an uncaptured table of one replica.
let captureBenchmarks = [
  Benchmark(
    group: "capture", name: "insert, 1,000 rows a transaction", baseline: "same call, uncaptured", budget: 1.3
  ) { context in
    let replica = try await openReplica(context, "batch-insert")
    let captured = RowSource<CapturedRow>(context.rowCount)
    let local = RowSource<LocalRow>(context.rowCount)
    return Benchmark.Sides(
      subject: { try await insert(captured.current, into: replica, batch: 1_000) },
      baseline: { try await insert(local.current, into: replica, batch: 1_000) },
      reset: {
        captured.renew()
        local.renew()
      }, finish: { await replica.close() }, units: context.rowCount)
  },
  Benchmark(group: "capture", name: "single-row transaction", baseline: "same call, uncaptured", budget: 1.4) {
    context in
    let replica = try await openReplica(context, "single-insert")
    let count = context.rowCount / 20
    let captured = RowSource<CapturedRow>(count)
    let local = RowSource<LocalRow>(count)
    return Benchmark.Sides(
      subject: { try await insert(captured.current, into: replica, batch: 1) },
      baseline: { try await insert(local.current, into: replica, batch: 1) },
      reset: {
        captured.renew()
        local.renew()
      }, finish: { await replica.close() }, units: count)
  },
  Benchmark(
    group: "capture", name: "one-column update, 1,000 a transaction", baseline: "same call, uncaptured", budget: 1.25
  ) { context in
    let replica = try await openReplica(context, "batch-update")
    let captured = CapturedRow.make(context.rowCount)
    let local = LocalRow.make(context.rowCount)
    try await insert(captured, into: replica, batch: 1_000)
    try await insert(local, into: replica, batch: 1_000)
    return Benchmark.Sides(
      subject: { try await increment(captured.map(\.id), "captured", in: replica) },
      baseline: { try await increment(local.map(\.id), "uncaptured", in: replica) },
      finish: { await replica.close() }, units: context.rowCount)
  },
]

func insert<Row: BenchModel>(_ rows: [Row], into replica: Replica, batch: Int) async throws {
  for start in stride(from: 0, to: rows.count, by: batch) {
    let end = min(start + batch, rows.count)
    try await replica.write { transaction in
      for index in start..<end { try transaction.insert(rows[index]) }
    }
  }
}

/// Sets one column of every row, by key, in the order of a shuffle that is the same on both sides.
private func increment<Row>(_ keys: [RecordID<Row>], _ table: String, in replica: Replica) async throws {
  var generator = SplitMix64(state: 7)
  let shuffled = keys.shuffled(using: &generator)
  for start in stride(from: 0, to: keys.count, by: 1_000) {
    let end = min(start + 1_000, keys.count)
    try await replica.write { transaction in
      for index in start..<end {
        try transaction.execute("UPDATE \(name: table) SET views = views + 1 WHERE id = \(shuffled[index])")
      }
    }
  }
}
