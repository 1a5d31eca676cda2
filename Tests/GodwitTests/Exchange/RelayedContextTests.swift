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

  /// 3 holds the second transaction of 2, and at 0 that one waits for a barrier, and the third, of which 1 has said
  /// something false.
  @Test("is what its author says where it waits at who passes it on, too")
  func passedOn() async throws {
    let group = try await MigrationGroup([1, 2, 2, 2]) {
      Migration(1, "notes") {
        $0.create("note") {
          $0.column("id", Int.self)
          $0.column("title", String.self)
        }
      }
      Migration(2, "names") { $0.alter("note") { $0.rename("title", to: "name") } }
    }
    try await group.exchange()
    try await group.write(0, "INSERT INTO note VALUES (0, 'seen')")
    for receiver in 1...3 { try await group.send(0, to: receiver) }
    for number in 1...2 { try await group.write(2, "INSERT INTO note VALUES (\(number), 'second')") }
    try await group.send(2, to: 3)
    let author = group[2].identity.replica
    #expect(try await group[0].import(from: part(of: group.replicas, from: 2) { _ in true }).waiting.transactions == 2)
    _ = try await group[0].import(from: part(of: group.replicas, from: 3) { _ in false })
    try await group.write(2, "INSERT INTO note VALUES (3, 'third')")
    try await group.send(2, to: 1)
    let last = try await part(of: group.replicas, from: 1, context: VersionVector()) {
      $0.dot.origin.replica == author && $0.dot.sequence.rawValue == 3
    }
    #expect(try await group[0].import(from: last).waiting.transactions == 3)
    let path = group.folder.file("passed-on")
    _ = try await group[0].export(to: .file(path), for: "replica-3")
    let ranges = try Forgery.header(Forgery.container(Forgery.bytes(path), Forgery.keys(of: group[3]).identity)).header
      .ranges
    #expect(ranges.map(\.first.rawValue) == [3])
    #expect(try await group[3].import(from: .file(path)).applied.transactions == 1)
    #expect(try await group.rows(3, "SELECT name FROM note WHERE id = 3") == [["third"]])
  }

  /// A file of a member's for 0 with the last of its transactions, and what it says of their context.
  private func part(
    of replicas: [Replica], from sender: Int, context: VersionVector? = nil, _ isKept: (TransactionRecord) -> Bool
  ) async throws -> SyncSource {
    let path = group.folder.file(UUID().uuidString)
    _ = try await replicas[sender].export(to: .file(path), includesAll: true)
    let keys = try Forgery.keys(of: replicas[sender])
    let (sealed, identity) = (try Forgery.bytes(path), keys.identity)
    let container = try Forgery.container(sealed, identity)
    let (header, end) = try Forgery.header(container)
    let records = try Forgery.transactions(sealed, identity)
    var chains = header.chains
    var ranges: [SyncFileHeader.Range] = []
    for range in header.ranges {
      let own = records.filter { $0.dot.origin == range.origin }
      guard let first = own.first(where: isKept)?.dot.sequence else {
        chains[range.origin] = .init(range.chainAtEnd, proof: range.proof)
        continue
      }
      let before = own.prefix { $0.dot.sequence < first }.reduce(range.chainBefore) { $1.chain(after: $0) }
      ranges.append(
        SyncFileHeader.Range(
          origin: range.origin, first: first, last: range.last, chainBefore: before, chainAtEnd: range.chainAtEnd,
          contextAtFirst: context ?? range.contextAtFirst, proof: range.proof))
    }
    let kept = records.filter(isKept)
    var trailer = ByteWriter()
    trailer.byte(SyncFileFormat.Part.trailer.rawValue)
    trailer.bigEndian(UInt64(kept.count))
    let origins = ranges.map(\.origin)
    let frame = kept.isEmpty ? [] : try Forgery.frame(Forgery.raw(kept, of: origins, present: header.present))
    let parts = frame + trailer.bytes + [UInt8](repeating: 0, count: SignedHead.signatureByteCount)
    let forged = try Forgery.replaceHeader(of: Array(container[..<end]) + parts, signedBy: identity) { header in
      header.changing(ranges: ranges, chains: chains)
    }
    try Data(Forgery.seal(forged, to: replicas.map(\.identity.recipient))).write(to: URL(fileURLWithPath: path))
    return .file(path)
  }
}
