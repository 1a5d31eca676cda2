import Foundation
import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitStorage

/// What sealing costs: age alone, in memory, beside the bare cipher.
let sealedBenchmarks = [
  Benchmark(group: "sealed", name: "seal 64 MB, per MB", baseline: bareCipher, budget: 2.0) { _ in
    let recipient = try AgeIdentity(secret: SecretBytes(random: 32)).recipient
    let megabyte = [UInt8](repeating: 7, count: 1_000_000)
    let bare = BareSealing()
    return Benchmark.Sides(
      subject: {
        try await BlockingThread.run {
          let sink = MemorySink()
          let sealer = try AgeSealer(recipients: [recipient], to: sink)
          for _ in 0..<64 { try sealer.write(megabyte) }
          try sealer.finish()
        }
      },
      baseline: { try await BlockingThread.run { for _ in 0..<64 { _ = try bare.seal(megabyte) } } }, units: 64)
  },
  Benchmark(group: "sealed", name: "open 64 MB, per MB", baseline: bareCipher, budget: 2.0) { _ in
    let identity = try AgeIdentity(secret: SecretBytes(random: 32))
    let sink = GodwitBase.MemorySink()
    let sealer = try AgeSealer(recipients: [identity.recipient], to: sink)
    for _ in 0..<64 { try sealer.write([UInt8](repeating: 7, count: 1_000_000)) }
    try sealer.finish()
    let sealed = sink.bytes
    let bare = BareSealing()
    let bareSealed = try bare.seal([UInt8](repeating: 7, count: 1_000_000))
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
      },
      baseline: {
        let count = try await BlockingThread.run {
          try (0..<64).reduce(0) { total, _ in try total + bare.open(bareSealed) }
        }
        try expect(count, 64_000_000)
      }, units: 64)
  },
  share("export", isImport: false), share("import", isImport: true),
  smallFile("X25519", .x25519, bare: BareSmallFile.sealClassical),
  smallFile("hybrid", .hybrid, bare: BareSmallFile.sealHybrid),
  hundredChanges("X25519", .x25519), hundredChanges("hybrid", .hybrid),
]

private let bareCipher = "OpenSSL's ChaCha20-Poly1305, 64 KiB at a time"

/// What an export of a hundred changes has sealed, sealed again, beside what the same costs with nothing inside: that
/// is its two recipients' own cost.
private func hundredChanges(_ name: String, _ kind: AgeKeyKind) -> Benchmark {
  Benchmark(
    group: "sealed", name: "seal 100 changes to 2 \(name) recipients", baseline: "the same with nothing inside",
    budget: 1.2
  ) { context in
    let content = try await contentOfHundredChanges(context, name)
    let recipients = try (0..<2).map { _ in try AgeIdentity(kind, secret: SecretBytes(random: 32)).recipient }
    let files = 20
    @Sendable func seal(_ content: [UInt8]) async throws {
      try await BlockingThread.run {
        for _ in 0..<files {
          let sealer = try AgeSealer(recipients: recipients, to: MemorySink())
          try sealer.write(content)
          try sealer.finish()
        }
      }
    }
    return Benchmark.Sides(subject: { try await seal(content) }, baseline: { try await seal([]) }, units: files)
  }
}

/// The container of a file with a hundred changes of as many transactions, for one other member.
private func contentOfHundredChanges(_ context: BenchContext, _ name: String) async throws -> [UInt8] {
  let pair = try await SyncPair(context, "sealed-100-\(name)")
  try await pair.prepareImport(includesAll: true)
  for row in CapturedRow.make(100) { try await insert([row], into: pair.sender, batch: 1) }
  let path = "\(pair.folder)/changes"
  try expect(try await pair.sender.export(to: .file(path)).transactions, 100)
  let folder = pair.sender.path
  await pair.close()
  let keys = try Keyring.open(
    at: KeyringLocation(keyring: "\(folder)/keyring", machineKey: "\(folder)/machine.key"))
  let sealed = try GodwitBase.MemorySource(Array(Data(contentsOf: URL(fileURLWithPath: path))))
  return try AgeOpener(sealed, identities: [keys.identity.ageIdentity]).readToEnd(limit: 1 << 24)
}

/// A file of about a hundred changes, with the cost of its one recipient.
private func smallFile(
  _ name: String, _ kind: AgeKeyKind, bare: @escaping @Sendable (_ plain: [UInt8], _ recipient: [UInt8]) throws -> Int
) -> Benchmark {
  Benchmark(
    group: "sealed", name: "seal 10 kB to one \(name) recipient", baseline: "its key agreement and chunk, by hand",
    budget: 1.6
  ) { _ in
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
      },
      baseline: { try await BlockingThread.run { for _ in 0..<files { _ = try bare(plain, recipient.bytes) } } },
      units: files)
  }
}

/// What an export or import of changes that hardly pack takes, against the same without what age takes for as many
/// bytes: about 1 kB a row, 100 MB of 100,000 rows.
private func share(_ name: String, isImport: Bool) -> Benchmark {
  Benchmark(
    group: "sealed", name: "\(name) of new rows of 1 kB", baseline: "the same less age", budget: 1.25, unit: "ms"
  ) { context in
    let pair = try await SyncPair(context, "sealed-\(name)")
    try await insert(largeRows(context.rowCount), into: pair.sender, batch: 1_000)
    var wholes: [Double] = []
    for _ in 0..<3 {
      try await pair.prepareImport(includesAll: true)
      wholes.append(
        try await milliseconds {
          if isImport {
            try expect(try await pair.runImport().applied.rows, context.rowCount)
          } else {
            _ = try await pair.sender.export(to: .file("\(pair.folder)/all"), includesAll: true)
          }
        })
    }
    let age = try await ageMilliseconds(byteCount: Int(pair.fileSize()), isOpening: isImport)
    let whole = wholes.sorted()[1]
    return (whole, whole - age)
  }
}

/// Rows with text of nearly six bits a character, of which packing takes little away.
func largeRows(_ count: Int, seed: UInt64 = 7) -> [CapturedRow] {
  var generator = SplitMix64(state: seed)
  return CapturedRow.make(count).map { row in
    var row = row
    row.body = (0..<80).map { _ in String(generator.next(), radix: 36) }.joined()
    return row
  }
}

/// Where bytes go that only had to be made: an export writes its file, sealed or not.
private final class NullSink: ByteSink {
  func write(_ buffer: UnsafeRawBufferPointer) {}
}

/// What age alone takes for so many bytes in memory, the median of three.
private func ageMilliseconds(byteCount: Int, isOpening: Bool) async throws -> Double {
  let identity = try AgeIdentity(secret: SecretBytes(random: 32))
  let piece = [UInt8](repeating: 7, count: 1 << 20)
  @Sendable func seal(to sink: any ByteSink) throws {
    let sealer = try AgeSealer(recipients: [identity.recipient], to: sink)
    for start in stride(from: 0, to: byteCount, by: piece.count) {
      try piece.withUnsafeBytes {
        try sealer.write(UnsafeRawBufferPointer(rebasing: $0.prefix(byteCount - start)))
      }
    }
    try sealer.finish()
  }
  let kept = GodwitBase.MemorySink()
  if isOpening { try seal(to: kept) }
  let sealed = kept.bytes
  var times: [Double] = []
  for _ in 0..<3 {
    times.append(
      try await milliseconds {
        try await BlockingThread.run {
          guard isOpening else { return try seal(to: NullSink()) }
          let opener = try AgeOpener(MemorySource(sealed), identities: [identity])
          var buffer = [UInt8](repeating: 0, count: 1 << 18)
          while try buffer.withUnsafeMutableBytes({ try opener.read(into: $0) }) > 0 {}
        }
      })
  }
  return times.sorted()[1]
}

private func milliseconds(_ body: () async throws -> Void) async throws -> Double {
  try await ContinuousClock().measure { try await body() } / .milliseconds(1)
}
