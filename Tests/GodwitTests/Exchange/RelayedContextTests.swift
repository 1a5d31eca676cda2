import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// 2 writes, and 1 passes on to 0 what 2 has written: what it had seen before is 1's word.
@Suite("What relayed transactions had seen")
struct RelayedContextTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
    try await group[0].write { try $0.insert(Note(title: "seen")) }
    try await group.send(from: 0, to: 2)
    try await group[2].write { try $0.insert(Note(title: "first")) }
    try await group.send(from: 2, to: 0)
    try await group.send(from: 0, to: 1)
  }

  /// A file of 1's for 0 that says something else of what came before 2's transactions.
  private func relay(falsely: Bool) async throws -> SyncSource {
    let path = group.folder.file(UUID().uuidString)
    _ = try await group[1].export(to: .file(path))
    guard falsely else { return .file(path) }
    let keys = try Forgery.keys(of: group[1])
    let author = group[2].identity.replica
    let container = try Forgery.replaceHeader(
      of: Forgery.container(Forgery.bytes(path), keys.identity), signedBy: keys.identity
    ) { header in
      let place = try #require(header.ranges.firstIndex { $0.origin.replica == author })
      var ranges = header.ranges
      #expect(ranges[place].first.rawValue > 1 && !ranges[place].contextAtFirst.origins.isEmpty)
      ranges[place] = ranges[place].changing(contextAtFirst: VersionVector())
      return header.changing(ranges: ranges)
    }
    try Data(Forgery.seal(container, to: group.replicas.map(\.identity.recipient))).write(
      to: URL(fileURLWithPath: path))
    return .file(path)
  }

  private func titles() async throws -> Set<String> { Set(try await group[0].fetch(Note.all).map(\.title)) }

  @Test("is compared with what is held here, and nothing is applied that goes by another")
  func compared() async throws {
    try await group[2].write { try $0.insert(Note(title: "second")) }
    try await group.send(from: 2, to: 1)
    let digest = try await group[0].maintenance.digest()
    let error = await error { try await group[0].import(from: relay(falsely: true)) }
    #expect(error?.code == .corruptFile)
    #expect(error?.message.contains("had seen what it had not") == true, "\(String(describing: error))")
    #expect(try await group[0].maintenance.digest() == digest)
    _ = try await group[0].import(from: relay(falsely: false))
    #expect(try await titles() == ["seen", "first", "second"])
  }

  @Test("does not stand in the way of the true one when it waited")
  func staged() async throws {
    try await group[2].write { try $0.insert(Note(title: "second")) }
    try await group.send(from: 2, to: 1)
    let early = try await relay(falsely: false)
    try await group[2].write { try $0.insert(Note(title: "third")) }
    try await group.send(from: 2, to: 1)
    guard case .file(let path) = try await relay(falsely: false) else { return }
    let records = try Forgery.transactions(Forgery.bytes(path), Forgery.keys(of: group[0]).identity)
    let (second, third) = (try #require(records.dropLast().last), try #require(records.last))
    // As a file would have it staged that says nothing of the second, and something false of what came before the
    // third.
    try await group[0].withWriter { writer in
      let before = try #require(
        try writer.log.chain(at: Dot(second.dot.origin, writer.log.origins.vector[second.dot.origin])))
      let chain = third.chain(after: second.chain(after: before))
      try StagedTransactions(connection: writer.connection)
        .add(StagedTransaction(record: third, context: VersionVector(), chain: chain))
    }
    #expect(try await group[0].import(from: early).waiting.transactions == 0)
    #expect(try await titles() == ["seen", "first", "second"])
    _ = try await group[0].import(from: relay(falsely: false))
    #expect(try await titles() == ["seen", "first", "second", "third"])
  }
}
