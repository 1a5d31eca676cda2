import Foundation
import Godwit

/// A process that copies the database as a whole, over and over.
enum DatabaseSubject {
  /// Writes a little between rekeys, so that there is a write-ahead log each time.
  static func rekey(_ replica: Replica, step: @escaping @Sendable () -> Void) async throws {
    try await replica.write { transaction in
      for number in 0..<2_000 { try transaction.save(Account(id: 10_000 + number)) }
    }
    step()
    while true {
      try await replica.maintenance.rekey { _ in step() }
      step()
      try await replica.write { transaction in
        let balance = (try transaction.fetch(Account.self, key: 1)?.balance ?? 0) + 1
        try transaction.save(Account(id: 1, balance: balance))
        try transaction.save(Account(id: 2, balance: balance))
      }
      step()
    }
  }

  static func backUp(_ replica: Replica, to file: String, step: @escaping @Sendable () -> Void) async throws {
    while true {
      _ = try await replica.maintenance.backup(to: file) { _ in step() }
      step()
    }
  }

  static func restore(_ file: String, to path: String) async throws {
    @Sendable func step() { FileHandle.standardOutput.write(Data([0x2E])) }
    while true {
      try await Replica.restore(file, to: path, discardingUnsent: true) { _ in step() }
      step()
      let replica = try await Replica.open(at: path, models: Account.self)
      _ = try await replica.write { try $0.save(Account(id: 3)) }
      await replica.close()
      step()
    }
  }
}
