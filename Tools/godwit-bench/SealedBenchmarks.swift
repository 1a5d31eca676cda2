import Foundation
import Godwit
import GodwitBase
import GodwitKeys
import GodwitStorage

/// What sealing costs: age alone, in memory. Three times what the first port reached: 270 MB/s sealing, 340 opening.
let sealedBenchmarks = [
  Benchmark(group: "sealed", name: "seal 64 MB, per MB", budget: .microseconds(1e6 / 810)) { _ in
    let recipient = try AgeIdentity(secret: SecretBytes(random: 32)).recipient
    let megabyte = [UInt8](repeating: 7, count: 1_000_000)
    return Benchmark.Sides(
      subject: {
        try await BlockingThread.run {
          let sink = MemorySink()
          let sealer = try AgeSealer(recipients: [recipient], to: sink)
          for _ in 0..<64 { try sealer.write(megabyte) }
          try sealer.finish()
        }
      }, units: 64)
  },
  Benchmark(group: "sealed", name: "open 64 MB, per MB", budget: .microseconds(1e6 / 1_020)) { _ in
    let identity = try AgeIdentity(secret: SecretBytes(random: 32))
    let sink = GodwitBase.MemorySink()
    let sealer = try AgeSealer(recipients: [identity.recipient], to: sink)
    for _ in 0..<64 { try sealer.write([UInt8](repeating: 7, count: 1_000_000)) }
    try sealer.finish()
    let sealed = sink.bytes
    return Benchmark.Sides(
      subject: {
        let count = try await BlockingThread.run {
          let opener = try AgeOpener(MemorySource(sealed), identities: [identity])
          var buffer = [UInt8](repeating: 0, count: 1 << 18)
          var total = 0
          while true {
            let count = try buffer.withUnsafeMutableBytes { try opener.read(into: $0) }
            if count == 0 { return total }
            total += count
          }
        }
        try expect(count, 64_000_000)
      }, units: 64)
  },
  smallFile("X25519", .x25519, microseconds: 2_000),
  smallFile("hybrid", .hybrid, microseconds: 3_000),
]

/// A file of about a hundred changes, with the cost of its one recipient.
private func smallFile(_ name: String, _ kind: AgeKeyKind, microseconds: Double) -> Benchmark {
  Benchmark(group: "sealed", name: "seal 10 kB to one \(name) recipient", budget: .microseconds(microseconds)) { _ in
    let recipient = try AgeIdentity(kind, secret: SecretBytes(random: 32)).recipient
    let plain = [UInt8](repeating: 7, count: 10_000)
    let files = 20
    return Benchmark.Sides(
      subject: {
        try await BlockingThread.run {
          for _ in 0..<files {
            let sealer = try AgeSealer(recipients: [recipient], to: MemorySink())
            try sealer.write(plain)
            try sealer.finish()
          }
        }
      }, units: files)
  }
}
