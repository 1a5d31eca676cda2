import Foundation
import Godwit
import GodwitStorage

/// What documents cost against models of the same rows, and the cache against a bare table.
let documentsBenchmarks = [
  Benchmark(
    group: "documents", name: "put of 10 members, JSON text", baseline: "model inserts of the same rows", budget: 2.0
  ) { context in
    let replica = try await Replica.open(at: "\(context.folder)/documents-put", models: FlatRow.self)
    let source = FlatSource(context.rowCount)
    let documents = replica.documents("flat")
    return Benchmark.Sides(
      subject: { try await put(source.current, into: documents, of: replica) },
      baseline: {
        for batch in source.current.rows.batches {
          try await replica.write { tx in _ = try tx.insert(batch) }
        }
      }, reset: { source.renew() }, finish: { await replica.close() }, units: context.rowCount)
  },
  getBenchmark("JSON text") { documents, key, reader in try documents.in(reader).json(key) != nil },
  getBenchmark("members") { documents, key, reader in try documents.in(reader).get(key) != nil },
  Benchmark(
    group: "documents", name: "get by key, one call each", baseline: "model fetch by key, one call each", budget: 2.0
  ) { context in
    let (replica, documents, all) = try await documentSides(context, "calls")
    let keys = Array(all.prefix(20_000))
    return Benchmark.Sides(
      subject: { for key in keys { try expect(try await documents.json(key) == nil ? 0 : 1, 1) } },
      baseline: { for key in keys { try expect(try await replica.fetch(FlatRow.self, key: key) == nil ? 0 : 1, 1) } },
      finish: { await replica.close() }, units: keys.count)
  },
  Benchmark(
    group: "documents", name: "cache get of 1 kB", baseline: "one prepared statement, bound and reset", budget: 1.5
  ) { context in
    let (replica, cache, bare, keys) = try await cacheSides(context, "get")
    return Benchmark.Sides(
      subject: {
        let found = try await cache.read { reader in try keys.count { try reader.data(for: $0) != nil } }
        try expect(found, keys.count)
      },
      baseline: { try expect(try await BlockingThread.run { try bare.get(keys) }, keys.count) },
      finish: { await replica.close() }, units: keys.count)
  },
  Benchmark(
    group: "documents", name: "cache get of 1 kB, one call each",
    baseline: "one prepared statement, on a queue of its own",
    budget: 2.0
  ) { context in
    let (replica, cache, bare, keys) = try await cacheSides(context, "calls")
    let queue = DispatchQueue(label: "bare-cache")
    return Benchmark.Sides(
      subject: { for key in keys { try expect(try await cache.data(for: key) == nil ? 0 : 1, 1) } },
      baseline: {
        let statement = try bare.prepareGet()
        for key in keys {
          let found = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: statement.get(key) == nil ? 0 : 1) }
          }
          try expect(found, 1)
        }
      }, finish: { await replica.close() }, units: keys.count)
  },
  Benchmark(
    group: "documents", name: "cache set of 1 kB, 1,000 a batch", baseline: "bare upsert in the same batches",
    budget: 1.5
  ) { context in
    let (replica, cache, bare, keys) = try await cacheSides(context, "set")
    let value = Data(repeating: 8, count: 1_000)
    return Benchmark.Sides(
      subject: {
        for batch in keys.batches {
          try await cache.set(Dictionary(uniqueKeysWithValues: batch.map { ($0, value) }))
        }
      },
      baseline: {
        for batch in keys.batches { try await BlockingThread.run { try bare.upsert(Array(batch), value) } }
      }, finish: { await replica.close() }, units: keys.count)
  },
  Benchmark(
    group: "documents", name: "cache get by 8 tasks", baseline: "the same by one task (two cores)", budget: 1 / 1.6
  ) { context in
    let (replica, cache, _, keys) = try await cacheSides(context, "tasks")
    @Sendable func read(_ keys: ArraySlice<String>) async throws {
      let found = try await cache.read { reader in try keys.count { try reader.data(for: $0) != nil } }
      try expect(found, keys.count)
    }
    return Benchmark.Sides(
      subject: {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
          let share = keys.count / 8
          for number in 0..<8 {
            let end = number == 7 ? keys.count : (number + 1) * share
            tasks.addTask { try await read(keys[number * share..<end]) }
          }
          try await tasks.waitForAll()
        }
      }, baseline: { try await read(keys[...]) }, finish: { await replica.close() }, units: keys.count)
  },
]

/// Documents by key in one read, in one of their forms.
private func getBenchmark(
  _ form: String, _ get: @escaping @Sendable (Documents, String, Reader) throws -> Bool
) -> Benchmark {
  Benchmark(
    group: "documents", name: "get by key, \(form)", baseline: "model fetch by key, one read", budget: 2.0
  ) { context in
    let (replica, documents, keys) = try await documentSides(context, "get-\(form.prefix(4))")
    return Benchmark.Sides(
      subject: {
        let found = try await replica.read { reader in try keys.count { try get(documents, $0, reader) } }
        try expect(found, keys.count)
      },
      baseline: {
        let found = try await replica.read { reader in
          try keys.count { try reader.fetch(FlatRow.self, key: $0) != nil }
        }
        try expect(found, keys.count)
      }, finish: { await replica.close() }, units: keys.count)
  }
}

/// A collection and a table of models with the same rows, and their keys in no order.
private func documentSides(_ context: BenchContext, _ name: String) async throws -> (Replica, Documents, [String]) {
  let replica = try await Replica.open(at: "\(context.folder)/documents-\(name)", models: FlatRow.self)
  let source = FlatSource(context.rowCount)
  let documents = replica.documents("flat")
  try await put(source.current, into: documents, of: replica)
  for batch in source.current.rows.batches { try await replica.write { tx in _ = try tx.insert(batch) } }
  return (replica, documents, source.current.rows.map(\.id).shuffled())
}

/// A cache and a bare table, each with an entry of 1 kB for each key.
private func cacheSides(
  _ context: BenchContext, _ name: String
) async throws -> (Replica, Cache, BareCache, [String]) {
  let replica = try await Replica.open(at: "\(context.folder)/cache-\(name)", models: LocalRow.self)
  let cache = try replica.cache("bench")
  let bare = try BareCache("\(context.folder)/bare-cache-\(name)")
  let keys = (0..<min(context.rowCount, 20_000)).map { "key-\($0)" }.shuffled()
  let value = Data(repeating: 7, count: 1_000)
  for batch in keys.batches {
    try await cache.set(Dictionary(uniqueKeysWithValues: batch.map { ($0, value) }))
    try bare.upsert(Array(batch), value)
  }
  return (replica, cache, bare, keys)
}

private func put(_ flat: FlatSource.Rows, into documents: Documents, of replica: Replica) async throws {
  for batch in Array(zip(flat.rows, flat.texts)).batches {
    try await replica.write { tx in
      for (row, text) in batch { try documents.in(tx).set(row.id, json: text) }
    }
  }
}

extension Array {
  /// 1,000 at a time.
  fileprivate var batches: [[Element]] {
    stride(from: 0, to: count, by: 1_000).map { Array(self[$0..<Swift.min($0 + 1_000, count)]) }
  }
}
