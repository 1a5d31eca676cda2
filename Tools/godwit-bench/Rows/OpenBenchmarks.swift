import Foundation
import Godwit
import GodwitBase
import GodwitKeys
import GodwitStorage

/// What opening a replica costs against opening its bare database and reading once.
let openBenchmarks = [
  Benchmark(
    group: "open", name: "existing replica, keyring sealed to the machine",
    baseline: "SQLCipher open, raw key, one read", budget: 2.5
  ) { context in
    let replica = try await openReplica(context, "open")
    try await insert(CapturedRow.make(1_000), into: replica, batch: 100)
    await replica.close()
    let path = "\(context.folder)/open"
    let key = try await databaseKeyHex(path)
    let opens = 20
    return Benchmark.Sides(
      subject: {
        for _ in 0..<opens {
          let replica = try await openReplica(context, "open")
          try expect(try await replica.count(CapturedRow.all), 1_000)
          await replica.close()
        }
      },
      baseline: {
        for _ in 0..<opens {
          let count = try await BlockingThread.run {
            try BareDatabase("\(path)/database", keyHex: key).count("captured")
          }
          try expect(count, 1_000)
        }
      }, units: opens)
  }
]

/// The bench opens the replica's own database for its baseline, so it reads the key as the library does.
private func databaseKeyHex(_ path: String) async throws -> String {
  let location = KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key")
  return try Keyring.open(at: location).databaseKey.withUnsafeBytes { Hexadecimal.encode($0) }
}
