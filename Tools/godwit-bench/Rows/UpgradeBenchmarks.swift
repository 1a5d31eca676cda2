import Foundation
import Godwit
import Synchronization

/// What it costs that programs are of different versions.
let upgradeBenchmarks = [
  Benchmark(
    group: "upgrade", name: "import, an addition behind", baseline: "the same import by one that is not", budget: 1.1
  ) { context in
    let pair = try await UpgradePair(context, "addition", version: 2, rows: context.rowCount)
    let sides = Mutex((behind: try await pair.makeReceiver(version: 1), level: try await pair.makeReceiver(version: 2)))
    return Benchmark.Sides(
      subject: { try expect(try await pair.runImport(sides.withLock(\.behind)).applied.rows, context.rowCount) },
      baseline: { try expect(try await pair.runImport(sides.withLock(\.level)).applied.rows, context.rowCount) },
      reset: {
        let old = sides.withLock { $0 }
        for receiver in [old.behind, old.level] { try await pair.remove(receiver) }
        let next = (try await pair.makeReceiver(version: 1), try await pair.makeReceiver(version: 2))
        sides.withLock { $0 = next }
      },
      finish: {
        let last = sides.withLock { $0 }
        for receiver in [last.behind, last.level] { await receiver.close() }
        await pair.close()
      }, units: context.rowCount)
  },
  Benchmark(
    group: "upgrade", name: "applying what was held", baseline: "importing it", budget: 1.1
  ) { context in
    let pair = try await UpgradePair(context, "held", version: 3, rows: context.rowCount)
    @Sendable func receivers() async throws -> (held: Replica, level: Replica) {
      let held = try await pair.makeReceiver(version: 1)
      let report = try await pair.runImport(held)
      try expect(report.waiting.held?.transactions ?? 0, report.waiting.transactions)
      return (held, try await pair.makeReceiver(version: 3))
    }
    let sides = Mutex(try await receivers())
    return Benchmark.Sides(
      subject: {
        let plan = try await sides.withLock(\.held).migrations.run(UpgradePair.migrations)
        try expect(plan.versions.map(\.released).max() ?? 0, (context.rowCount + 999) / 1_000)
      },
      baseline: { try expect(try await pair.runImport(sides.withLock(\.level)).applied.rows, context.rowCount) },
      reset: {
        let old = sides.withLock { $0 }
        for receiver in [old.held, old.level] { try await pair.remove(receiver) }
        let next = try await receivers()
        sides.withLock { $0 = next }
      },
      finish: {
        let last = sides.withLock { $0 }
        for receiver in [last.held, last.level] { await receiver.close() }
        await pair.close()
      }, units: context.rowCount)
  },
]
