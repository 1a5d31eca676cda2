import Foundation
import Godwit
import GodwitBase
import Logging

/// Replicas of one group on real files, driven by a seed: random transactions, clocks that disagree and jump by years,
/// restored backups, and sync files that are lost, doubled, delayed and relayed.
///
/// The seed fixes every choice made here. Replica IDs are random all the same, and decide only between equal
/// timestamps.
package final class Simulation {
  private var generator: SeededGenerator
  private let folder: String
  private let clock = SimulatedClock()
  package private(set) var replicas: [Replica] = []
  /// Files written and not yet lost, by receiver.
  private var inFlight: [(path: String, receiver: Int)] = []
  private var fileCount = 0
  /// The latest backup of each replica's folder.
  private var backups: [Int: String] = [:]

  private static let keys = (0..<8).map { "row-\($0)" }
  private static let words = ["alpha", "bravo", "charlie", "delta", ""]

  /// Makes the replicas in a folder that the caller owns.
  package init(seed: UInt64, replicaCount: Int, folder: String) async throws {
    generator = SeededGenerator(seed: seed)
    self.folder = folder
    for index in 0..<replicaCount {
      let path = "\(folder)/replica-\(index)"
      if index > 0 {
        let identity = try await Replica.identity(at: path)
        let invitation = SyncDestination.file("\(path).invitation")
        try await replicas[0].invite(identity, name: "replica-\(index)", to: invitation)
        await (try Replica.join(at: path, invitation: .file("\(path).invitation"))).close()
      }
      clock.set(offset: Int64.random(in: -5_000...5_000, using: &generator), of: index)
      replicas.append(try await open(index))
    }
    // Everyone learns of everyone: members added later are unknown to those who joined before.
    try await settle()
  }

  private func open(_ index: Int) async throws -> Replica {
    var logger = Logger(label: "simulation")
    logger.logLevel = .error  // restored backups are no news here
    return try await Replica.open(
      at: "\(folder)/replica-\(index)", models: [SimulatedRow.self], name: "replica-\(index)", key: .keyring(),
      logger: logger, wallClock: clock.wallClock(of: index))
  }

  /// One random event.
  package func step() async throws {
    clock.advance(Int64.random(in: 0...20, using: &generator))
    if generator.chance(oneIn: 20) { setSomeClock() }
    if generator.chance(oneIn: 15) { try await backUpOrRestore() }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<5: try await writeSomething()
    case 5..<8: try await send()
    default: try await deliver()
    }
  }

  /// Wrong by up to two years, or right again.
  private func setSomeClock() {
    let twoYears: Int64 = 2 * 365 * 86_400_000
    let range = Bool.random(using: &generator) ? -twoYears...twoYears : -5_000...5_000
    clock.set(
      offset: Int64.random(in: range, using: &generator), of: Int.random(in: replicas.indices, using: &generator))
  }

  /// Copies a replica's folder, or puts the copy back in its place.
  private func backUpOrRestore() async throws {
    let index = Int.random(in: replicas.indices, using: &generator)
    let path = "\(folder)/replica-\(index)"
    await replicas[index].close()
    if let backup = backups.removeValue(forKey: index) {
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: backup, toPath: path)
    } else {
      let backup = "\(path).backup"
      try FileManager.default.copyItem(atPath: path, toPath: backup)
      backups[index] = backup
    }
    replicas[index] = try await open(index)
  }

  private func writeSomething() async throws {
    let replica = replicas.randomElement(using: &generator) ?? replicas[0]
    let operations = (0..<Int.random(in: 1...4, using: &generator)).map { _ in randomOperation() }
    let fails = generator.chance(oneIn: 10)
    do {
      try await replica.write { transaction in
        for operation in operations { try operation(transaction) }
        if fails { throw CancellationError() }
      }
    } catch is CancellationError {}
  }

  private func randomOperation() -> @Sendable (Transaction) throws -> Void {
    var row = SimulatedRow()
    row.id = Self.keys.randomElement(using: &generator) ?? ""
    row.number = Int.random(in: 0..<100, using: &generator)
    row.word = Self.words.randomElement(using: &generator) ?? ""
    row.ratio = Bool.random(using: &generator) ? nil : Double.random(in: -1...1, using: &generator)
    let made = row
    let number = row.number
    switch Int.random(in: 0..<8, using: &generator) {
    case 0..<3: return { _ = try $0.save(made) }
    case 3: return { _ = try $0.delete(made) }
    case 4: return { _ = try $0.execute("UPDATE simulated SET number = \(number) WHERE id = \(made.id)") }
    case 5: return { _ = try $0.execute("UPDATE simulated SET number = number + 1") }
    case 6:
      return {
        _ = try $0.execute(
          "INSERT OR REPLACE INTO simulated (id, number, word) VALUES (\(made.id), \(number), \(made.word))")
      }
    default:
      return { transaction in
        _ = try? transaction.savepoint {
          _ = try transaction.save(made)
          if number.isMultiple(of: 2) { throw CancellationError() }
        }
      }
    }
  }

  private func send() async throws {
    let sender = Int.random(in: replicas.indices, using: &generator)
    var receiver = Int.random(in: replicas.indices, using: &generator)
    if receiver == sender { receiver = (receiver + 1) % replicas.count }
    fileCount += 1
    let path = "\(folder)/\(fileCount).godwit-sync"
    _ = try await replicas[sender].export(to: .file(path), includesAll: generator.chance(oneIn: 4))
    guard !generator.chance(oneIn: 6) else { return }  // lost on the way
    inFlight.append((path, receiver))
  }

  private func deliver() async throws {
    guard let index = inFlight.indices.randomElement(using: &generator) else { return }
    let (path, receiver) = inFlight[index]
    _ = try await replicas[receiver].import(from: .file(path))
    if !generator.chance(oneIn: 4) { inFlight.remove(at: index) }  // else it comes again
  }

  /// Delivers everything to everyone until all hold the same.
  package func settle() async throws {
    for round in 0..<2 {
      for sender in replicas.indices {
        let path = "\(folder)/settle-\(round)-\(sender).godwit-sync"
        _ = try await replicas[sender].export(to: .file(path), includesAll: true)
        for receiver in replicas.indices where receiver != sender {
          _ = try await replicas[receiver].import(from: .file(path))
        }
      }
    }
  }

  /// Closes the replicas.
  package func close() async { for replica in replicas { await replica.close() } }
}
