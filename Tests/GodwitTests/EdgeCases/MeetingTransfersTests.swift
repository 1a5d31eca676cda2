import Foundation
import Godwit
import Synchronization
import Testing

/// Two rows in two tables that every transaction leaves equal, so that a part of one would show.
@Suite("Imports, exports and writes that meet", .timeLimit(.minutes(2)))
struct MeetingTransfersTests {
  private static let models: [any Model.Type] = [Debit.self, Credit.self]

  /// A pair whose receiver has the sender's first `count` transactions to come in a file each.
  private func files(_ pair: ReplicaPair, _ count: Int) async throws -> [SyncSource] {
    var files: [SyncSource] = []
    for number in 1...count {
      try await Self.transfer(number, on: pair.sender)
      let path = pair.folder.file("file-\(number)")
      _ = try await pair.sender.export(to: .file(path), includesAll: true)
      files.append(.file(path))
    }
    return files
  }

  /// Books an amount on both sides, over and over, so that the transaction takes a while.
  private static func transfer(_ amount: Int, on replica: Replica) async throws {
    try await replica.write { transaction in
      try transaction.save(Debit(id: 1, amount: amount))
      for number in 2...40 { try transaction.save(Debit(id: number, amount: amount)) }
      try transaction.save(Credit(id: 1, amount: amount))
    }
  }

  /// What both sides show in one state file.
  private static func amounts(_ replica: Replica) async throws -> [Int] {
    try await replica.read { stateFile in
      try stateFile.fetch(Debit.all).map(\.amount) + stateFile.fetch(Credit.all).map(\.amount)
    }
  }

  @Test("several imports at once, of files in any order, come to what one after another would")
  func importsAtOnce() async throws {
    let pair = try await ReplicaPair(models: Self.models)
    let files = try await files(pair, 12)
    let reports = try await withThrowingTaskGroup(of: MergeReport.self) { tasks in
      for file in files.shuffled() + files { tasks.addTask { try await pair.receiver.import(from: file) } }
      var reports: [MergeReport] = []
      for try await report in tasks { reports.append(report) }
      return reports
    }
    #expect(reports.reduce(0) { $0 + $1.applied.transactions } == 12)
    #expect(
      reports.allSatisfy { $0.waiting.transactions == 0 && $0.waiting.missing.isEmpty && $0.attention.conflicts == 0 })
    #expect(try await pair.receiver.maintenance.digest() == pair.sender.maintenance.digest())
    #expect(try await pair.receiver.maintenance.verify().problems == [])
  }

  @Test("a reader never sees a part of a transaction, nor of a file, while files come in")
  func readersDuringImport() async throws {
    let pair = try await ReplicaPair(models: Self.models)
    let files = try await files(pair, 12)
    let done = Flag()
    async let seen = Self.watch(pair.receiver, until: done)
    for file in files { _ = try await pair.receiver.import(from: file) }
    done.set()
    #expect(try await seen.allSatisfy { Set($0).count <= 1 && ($0.isEmpty || $0.count == 41) })
    #expect(try await Self.amounts(pair.receiver) == Array(repeating: 12, count: 41))
  }

  private static func watch(_ replica: Replica, until done: Flag) async throws -> [[Int]] {
    var seen: [[Int]] = []
    repeat { seen.append(try await amounts(replica)) } while !done.isSet
    return seen
  }

  @Test("an import while others write: each waits for the other, and both are there whole")
  func importWhileWriting() async throws {
    let pair = try await ReplicaPair(models: Self.models)
    let files = try await files(pair, 10)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for file in files { tasks.addTask { _ = try await pair.receiver.import(from: file) } }
      for number in 1...20 {
        let debit = Debit(id: 1_000 + number, amount: number)
        tasks.addTask { _ = try await pair.receiver.write { try $0.insert(debit) } }
      }
      try await tasks.waitForAll()
    }
    let own = try await pair.receiver.fetch(Debit.where { $0.id > 1_000 }.order(by: \.id)).map(\.amount)
    #expect(own == Array(1...20))
    #expect(
      try await pair.receiver.fetch(Debit.where { $0.id <= 1_000 }).map(\.amount) == Array(repeating: 10, count: 40))
    let back = pair.folder.file("back")
    _ = try await pair.receiver.export(to: .file(back))
    #expect(try await pair.sender.import(from: .file(back)).applied.transactions == 20)
    #expect(try await pair.receiver.maintenance.digest() == pair.sender.maintenance.digest())
    #expect(try await pair.receiver.maintenance.verify().problems == [])
  }

  @Test("every file that is exported while others write holds all up to some transaction, and nothing of the next")
  func exportWhileWriting() async throws {
    let pair = try await ReplicaPair(models: Self.models)
    let done = Flag()
    async let written: Void = {
      for number in 1...60 { try await Self.transfer(number, on: pair.sender) }
      done.set()
    }()
    var paths: [String] = []
    repeat {
      let path = pair.folder.file("cut-\(paths.count)")
      _ = try await pair.sender.export(to: .file(path), includesAll: true)
      paths.append(path)
    } while !done.isSet
    try await written
    var reached = 0
    for path in paths {
      let report = try await pair.receiver.import(from: .file(path))
      #expect(report.waiting.transactions == 0 && report.waiting.missing.isEmpty)
      reached += report.applied.transactions
      let amounts = try await Self.amounts(pair.receiver)
      #expect(amounts == Array(repeating: reached, count: reached == 0 ? 0 : 41))
    }
    try await pair.expectSame()
    #expect(try await Self.amounts(pair.receiver) == Array(repeating: 60, count: 41))
  }

  @Test("replicas that send to each other at the same time end with the same")
  func bothWays() async throws {
    let pair = try await ReplicaPair(models: Self.models)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (from, to, first) in [(pair.sender, pair.receiver, 0), (pair.receiver, pair.sender, 100)] {
        tasks.addTask {
          for number in 1...15 {
            _ = try await from.write { try $0.insert(Debit(id: first + number, amount: number)) }
            try await carry(from: from, to: to, in: pair.folder)
          }
        }
      }
      try await tasks.waitForAll()
    }
    try await carry(from: pair.sender, to: pair.receiver, in: pair.folder)
    try await carry(from: pair.receiver, to: pair.sender, in: pair.folder)
    #expect(try await pair.receiver.count(Debit.all) == 30)
    #expect(try await pair.receiver.maintenance.digest() == pair.sender.maintenance.digest())
    for replica in [pair.sender, pair.receiver] {
      #expect(try await replica.maintenance.verify().problems == [])
      #expect(try await replica.conflicts.list().isEmpty)
    }
  }
}

private struct Debit: Model {
  static let schema = Schema<Self>("debit") { Column("amount", \.amount) }
  var id = 0
  var amount = 0
}

private struct Credit: Model {
  static let schema = Schema<Self>("credit") { Column("amount", \.amount) }
  var id = 0
  var amount = 0
}

/// Something that becomes true once.
private final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}
