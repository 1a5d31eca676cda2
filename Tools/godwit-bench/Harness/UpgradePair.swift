import Foundation
import Godwit
import Synchronization

/// A replica whose program has all migrations, and new replicas of its group whose programs have some.
final class UpgradePair: Sendable {
  /// An addition, and a barrier.
  static let migrations = Migrations {
    Migration(1, "items") {
      $0.create("item") {
        $0.column("id", Int.self)
        $0.column("title", String.self, default: "")
        $0.column("body", String.self, default: "")
        $0.column("views", Int.self, default: 0)
      }
    }
    Migration.addition(2, "stars") { $0.alter("item") { $0.add("stars", Int.self, default: 3) } }
    Migration(3, "names") { $0.alter("item") { $0.rename("title", to: "name") } }
  }

  private let folder: String
  private let sender: Replica
  private let count = Mutex(0)
  private var file: SyncSource { .file("\(folder)/file.godwit-sync") }

  /// The sender's program has so many of the migrations, and its table so many rows, 1,000 to a transaction.
  init(_ context: BenchContext, _ name: String, version: Int, rows: Int) async throws {
    folder = "\(context.folder)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    sender = try await Replica.open(
      at: "\(folder)/sender", models: [], configuration: .init(migrations: Self.migrations.through(version)))
    let title = version < 3 ? "title" : "name"
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await sender.write { transaction in
        for id in first..<min(first + 1_000, rows) {
          try transaction.execute(
            SQL(
              text: "INSERT INTO item (id, \(title), body, views, stars) VALUES (?, ?, ?, ?, ?)",
              values: [
                .integer(Int64(id)), .text("Item \(id)"), .text("About \(id), in a few words of its own"),
                .integer(Int64(id % 97)), .integer(Int64(id % 5)),
              ]))
        }
      }
    }
  }

  /// A new replica whose program has so many of the migrations, and a file for it.
  func makeReceiver(version: Int) async throws -> Replica {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let path = "\(folder)/receiver-\(number)"
    try await sender.addMember(at: path, name: "receiver-\(number)")
    let receiver = try await Replica.open(
      at: path, models: [], configuration: .init(migrations: Self.migrations.through(version)))
    _ = try await sender.export(to: .file("\(folder)/file.godwit-sync"), includesAll: true)
    return receiver
  }

  /// Imports the file that was made with the last receiver.
  @discardableResult
  func runImport(_ receiver: Replica) async throws -> MergeReport { try await receiver.import(from: file) }

  func remove(_ receiver: Replica) async throws {
    await receiver.close()
    try FileManager.default.removeItem(atPath: receiver.path)
  }

  func close() async { await sender.close() }
}
