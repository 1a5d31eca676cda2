import Foundation
import Godwit
import GodwitBase
import GodwitCrypto
import GodwitFiles
import GodwitRemotes
import GodwitStorage
import TestServers

/// What a large file costs on its way to an object store and back (Specs/remotes.md, "Object stores"). Curl gets the
/// hash of what it sends for nothing, which the carrier works out first, and keeps no connection; nor does the carrier,
/// which is a new one for each file.
let storeBenchmarks = [
  storeRow("put to an S3 server") { scene in
    Benchmark.Sides(
      subject: { try await scene.putByCarrier() }, baseline: { try await scene.putByCurl() },
      reset: { try scene.requirePut() }, units: scene.megabytes)
  },
  storeRow("get from an S3 server") { scene in
    try await scene.putByCarrier()
    return Benchmark.Sides(
      subject: { try await scene.getByCarrier() }, baseline: { try await scene.getByCurl() },
      reset: { try scene.requireFetched() }, units: scene.megabytes)
  },
]

private func storeRow(
  _ name: String, _ prepare: @escaping @Sendable (StoreScene) async throws -> Benchmark.Sides
) -> Benchmark {
  var row = Benchmark(group: "remotes", name: name, baseline: "curl --aws-sigv4, the same request", budget: 1.25) {
    try await prepare(StoreScene($0, name))
  }
  row.size = { "\(StoreScene.megabytes($0)) MB" }
  if RcloneStore.program == nil { row.absence = "for GODWIT_RCLONE names no rclone" }
  return row
}

/// A file of random bytes, an S3 server of rclone's on loopback, and who puts the file there and fetches it.
final class StoreScene: Sendable {
  /// How large the file is: 100 MB by default, 10 MB in a short run.
  static func megabytes(_ context: BenchContext) -> Int { context.rowCount >= 100_000 ? 100 : 10 }

  let megabytes: Int
  let file: String
  let folder: String
  private let store: RcloneStore
  private let hash: String

  init(_ context: BenchContext, _ name: String) throws {
    megabytes = Self.megabytes(context)
    folder = "\(context.folder)/\(name.replacingOccurrences(of: " ", with: "-"))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try RcloneStore()
    file = "\(folder)/file"
    let random = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
    try (random.read(upToCount: megabytes * 1_000_000) ?? Data()).write(to: URL(fileURLWithPath: file))
    let (hash, size) = try LocalFile.hash(of: file)
    try expect(size, megabytes * 1_000_000)
    self.hash = hash.hexadecimal
  }

  var endpoint: String { "http://127.0.0.1:\(store.server.port)" }

  // MARK: Godwit

  private static let place = "m/by-carrier"

  private func carrier() throws -> ObjectStoreCarrier {
    guard case .bucket(let address) = try RemoteURL("s3://bucket?endpoint=\(endpoint)") else {
      throw GodwitError(.invalidArgument, "a bucket's URL is none")
    }
    return try ObjectStoreCarrier(address, environment: RcloneStore.environment)
  }

  func putByCarrier() async throws {
    try await BlockingThread.run { [self] in
      _ = try carrier().write(Self.place, from: file, meter: TransferMeter())
    }
  }

  /// Into a file, as a sync does.
  func getByCarrier() async throws {
    try await BlockingThread.run { [self] in
      let pending = try PendingFile(replacing: "\(folder)/fetched-by-carrier")
      let limit = megabytes * 1_000_000
      guard try carrier().read(Self.place, into: pending, limit: limit, meter: TransferMeter()) != nil else {
        throw GodwitError(.invalidArgument, "the file is not there")
      }
      try pending.commit(isDurable: false)
    }
  }

  // MARK: Curl

  /// - Parameter hash: Of the payload, as the carrier signs it.
  private func curl(_ name: String, hash: String, _ arguments: [String]) async throws {
    let keys = RcloneStore.environment
    let words = [
      "curl", "-q", "--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
      "\(keys["AWS_ACCESS_KEY_ID"] ?? ""):\(keys["AWS_SECRET_ACCESS_KEY"] ?? "")", "--header",
      "x-amz-content-sha256: \(hash)", "--expect100-timeout", "0.001",
    ]
    let url = "\(endpoint)/bucket/\(name)"
    try await BlockingThread.run { try PipedProgram.run(words + arguments + [url]) }
  }

  func putByCurl() async throws { try await curl("m/by-curl", hash: hash, ["--upload-file", file]) }

  func getByCurl() async throws {
    try await curl(Self.place, hash: ContentHasher().finalize().hexadecimal, ["--output", "\(folder)/fetched-by-curl"])
  }

  // MARK: What came of it

  func requirePut() throws {
    let bucket = "\(store.folder.path)/bucket"
    try require(["\(bucket)/\(Self.place)", "\(bucket)/m/by-curl"])
  }

  func requireFetched() throws { try require(["carrier", "curl"].map { "\(folder)/fetched-by-\($0)" }) }

  private func require(_ paths: [String]) throws {
    for path in paths where try LocalFile.hash(of: path).hash.hexadecimal != hash {
      throw GodwitError(.invalidArgument, "\(path) is another file")
    }
  }
}
