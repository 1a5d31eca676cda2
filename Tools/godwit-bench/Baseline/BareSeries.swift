import Foundation
import Godwit
import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitStorage
import GodwitSyncFile
import Synchronization

/// The baseline of an exchange: the same rows by hand, each time in one transaction, as an import is one.
final class BareSeries: Sendable {
  private let folder: String
  private let rows: [BareDatabase.Row]
  private let isSameTable: Bool
  private let state: Mutex<(number: Int, database: BareDatabase?)>

  init(_ context: BenchContext, _ name: String, _ rows: [BareDatabase.Row], isSameTable: Bool = false) {
    self.isSameTable = isSameTable
    folder = "\(context.folder)/\(name)"
    self.rows = rows
    state = Mutex((0, nil))
  }

  /// All rows into a new database.
  func insert() async throws {
    let (rows, isSameTable) = (rows, isSameTable)
    let path = state.withLock { state in
      state.number += 1
      return "\(folder)-\(state.number)"
    }
    let database = try await BlockingThread.run {
      let database = try BareDatabase(path, keyHex: String(repeating: "5a", count: 32))
      try database.configureAsGodwit(isSameTable: isSameTable)
      try database.insert(rows, batch: rows.count)
      return database
    }
    state.withLock { $0.database = database }
  }

  func update(_ counts: [(key: BareDatabase.Key, views: Int)]) async throws {
    guard let database = state.withLock({ $0.database }) else { return }
    try await BlockingThread.run { try database.update(counts) }
  }

  /// The size of all pages.
  func databaseBytes() async throws -> Int {
    guard let database = state.withLock({ $0.database }) else { return 0 }
    return try await BlockingThread.run {
      try database.integer("PRAGMA page_count") * database.integer("PRAGMA page_size")
    }
  }

  /// Reads all rows, packs and seals them.
  func seal(to recipient: AgeRecipient, _ path: String) async throws {
    guard let database = state.withLock({ $0.database }) else { return }
    try await BlockingThread.run {
      let sink = try FileSink(path)
      let sealer = try AgeSealer(recipients: [recipient], to: sink)
      let zstd = try Zstd(level: 3)
      var buffer = ByteWriter(capacity: 1 << 20)
      func flush() throws {
        try buffer.withBytes(0..<buffer.count) { try zstd.withCompressed($0) { try sealer.write($0) } }
        buffer.removeAll()
      }
      for row in try database.fetch() {
        withUnsafeBytes(of: row.id) { buffer.bytesValue(4, $0) }
        buffer.textValue(row.title)
        buffer.textValue(row.body)
        buffer.integerValue(Int64(row.views))
        buffer.realValue(row.created.timeIntervalSinceReferenceDate)
        if buffer.count > 1 << 20 { try flush() }
      }
      try flush()
      try sealer.finish()
      try sink.close()
    }
  }
}

/// A plain file, synchronized at the end like an exported one.
private final class FileSink: ByteSink {
  private let handle: FileHandle

  init(_ path: String) throws {
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  func write(_ buffer: UnsafeRawBufferPointer) throws { try handle.write(contentsOf: Data(buffer)) }

  func close() throws {
    try handle.synchronize()
    try handle.close()
  }
}

/// Counts what it is given.
final class MemorySink: ByteSink {
  private(set) var count = 0
  func write(_ buffer: UnsafeRawBufferPointer) throws { count += buffer.count }
}
