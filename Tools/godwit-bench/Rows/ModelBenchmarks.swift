import Foundation
import Godwit
import GodwitStorage

/// What models cost: the same rows through models and through a hand-written loop over the C API.
let modelBenchmarks = [
  Benchmark(
    group: "models", name: "insert, uncaptured", baseline: "hand-written C API loop in Swift", budget: 1.25
  ) { context in
    let replica = try await openReplica(context, "model-insert")
    let bare = try BareDatabase("\(context.folder)/bare-insert", keyHex: String(repeating: "5a", count: 32))
    try bare.configureAsGodwit()
    let rows = LocalRow.make(context.rowCount)
    let bareRows = bareRows(rows)
    return Benchmark.Sides(
      subject: { try await insert(rows, into: replica, batch: 1_000) },
      baseline: { try await BlockingThread.run { try bare.insert(bareRows, batch: 1_000) } },
      reset: {
        try await replica.write { _ = try $0.execute("DELETE FROM uncaptured") }
        try bare.execute("DELETE FROM bare")
      }, finish: { await replica.close() }, units: context.rowCount)
  },
  Benchmark(
    group: "models", name: "fetch, 5 columns into structs", baseline: "hand-written C API loop in Swift", budget: 1.3
  ) { context in
    let replica = try await openReplica(context, "model-fetch")
    let bare = try BareDatabase("\(context.folder)/bare-fetch", keyHex: String(repeating: "5a", count: 32))
    try bare.configureAsGodwit()
    let rows = LocalRow.make(context.rowCount)
    try await insert(rows, into: replica, batch: 1_000)
    try bare.insert(bareRows(rows), batch: 1_000)
    return Benchmark.Sides(
      subject: { try expect(try await replica.fetch(LocalRow.all).count, rows.count) },
      baseline: { try expect(try await BlockingThread.run { try bare.fetch().count }, rows.count) },
      finish: { await replica.close() }, units: context.rowCount)
  },
]

func bareRows(_ rows: [LocalRow]) -> [BareDatabase.Row] {
  rows.map { row in
    BareDatabase.Row(
      id: BareDatabase.Key(row.id), title: row.title, body: row.body, views: row.views, created: row.created)
  }
}

extension BareDatabase.Key {
  /// The bytes that the model stores.
  init<Record>(_ id: RecordID<Record>) {
    self.init()
    guard case .blob(let bytes) = id.storedValue(), bytes.count == 16 else { return }
    self = bytes.withUnsafeBytes { $0.loadUnaligned(as: BareDatabase.Key.self) }
  }
}

/// A side that did less work than it should has no time worth printing.
func expect(_ found: Int, _ wanted: Int) throws {
  guard found == wanted else { throw GodwitError(.invalidArgument, "found \(found) rows instead of \(wanted)") }
}
