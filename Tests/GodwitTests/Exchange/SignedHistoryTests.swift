import Foundation

import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// Specs/sync-file.md, "Signed heads": who passes on what another wrote can keep it back, and neither change nor invent
/// it.
@Suite("Histories that their authors have signed")
struct SignedHistoryTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.introduce()
  }

  private func titles(_ index: Int) async throws -> Set<String> {
    Set(try await group[index].fetch(Note.all).map(\.title))
  }

  /// A file of the second's with the third's transactions, after a change, for the first.
  private func relayed(
    by sender: Int = 1, _ records: ([TransactionRecord]) throws -> [TransactionRecord],
    _ change: (SyncFileHeader) throws -> SyncFileHeader = { $0 }
  ) async throws -> SyncSource {
    let path = group.folder.file(UUID().uuidString)
    _ = try await group[sender].export(to: .file(path))
    let keys = try Forgery.keys(of: group[sender])
    let sealed = try Forgery.bytes(path)
    let container = try Forgery.container(sealed, keys.identity)
    let (header, end) = try Forgery.header(container)
    let changed = try records(Forgery.transactions(sealed, keys.identity))
    var trailer = ByteWriter()
    trailer.byte(SyncFileFormat.Part.trailer.rawValue)
    trailer.bigEndian(UInt64(changed.count))
    // As the transactions are now, so that nothing else is wrong with the file.
    let ranges = header.ranges.map { range in
      let own = changed.filter { $0.dot.origin == range.origin }
      return range.changing(
        last: own.last?.dot.sequence, chainAtEnd: own.reduce(range.chainBefore) { $1.chain(after: $0) })
    }
    let written = try change(header.changing(ranges: ranges))
    let frame = try Forgery.frame(Forgery.raw(changed, of: ranges.map(\.origin), present: written.present))
    let parts = frame + trailer.bytes + [UInt8](repeating: 0, count: 64)
    let whole = Array(container[..<end] + parts)
    let forged = try Forgery.replaceHeader(of: whole, signedBy: keys.identity) { _ in written }
    try Data(Forgery.seal(forged, to: header.recipients)).write(to: URL(fileURLWithPath: path))
    return .file(path)
  }

  private func changing(_ record: TransactionRecord, _ old: String, _ new: String) -> TransactionRecord {
    var changes = record.changes
    let (old, new) = (Array(old.utf8), Array(new.utf8))
    if let place = changes.indices.first(where: { changes[$0...].starts(with: old) }) {
      changes.replaceSubrange(place..<(place + old.count), with: new)
    }
    return TransactionRecord(
      dot: record.dot, hlc: record.hlc, schemaVersion: record.schemaVersion, context: record.context, changes: changes)
  }

  @Test("a transaction that a relay has changed is left out and named; the true one comes by another way")
  func changed() async throws {
    try await group[2].write { try $0.insert(Note(title: "third's")) }
    try await group.send(from: 2, to: 1)
    try await group[1].write { try $0.insert(Note(title: "second's")) }
    let report = try await group[0].import(
      from: try await relayed { $0.map { changing($0, "third's", "forged!") } })
    #expect(
      report.attention.leftOut == [
        .init(replica: group[2].identity.replica, sequences: 1...1, reason: .unsigned)
      ])
    #expect(report.attention.forks.isEmpty)
    // What the relay wrote itself had seen the forged one: it waits for the true one.
    #expect(try await titles(0).isEmpty && report.waiting.transactions == 1)
    try await group.send(from: 2, to: 0)
    #expect(try await titles(0) == ["third's", "second's"])
    try await group.settle()
    #expect(try await group.digests().count == 1)
  }

  @Test("a transaction that a relay has invented behind the last is left out, with all of that origin in the file")
  func invented() async throws {
    try await group[2].write { try $0.insert(Note(title: "third's")) }
    try await group.send(from: 2, to: 1)
    let report = try await group[0].import(
      from: try await relayed { records in
        let last = try #require(records.last)
        let more = TransactionRecord(
          dot: Dot(last.dot.origin, last.dot.sequence.next), hlc: HLC(rawValue: last.hlc.rawValue + 1),
          schemaVersion: 0, context: nil, changes: changing(last, "third's", "invents").changes)
        return records + [more]
      })
    #expect(report.attention.leftOut.map(\.reason) == [.unsigned] && report.attention.leftOut.first?.sequences == 1...2)
    #expect(try await titles(0).isEmpty)
    try await group.send(from: 1, to: 0)
    #expect(try await titles(0) == ["third's"])
  }

  @Test("one file of a relay's cannot part two others: what it says of a third's chain alone forks nobody")
  func claimed() async throws {
    try await group[2].write { try $0.insert(Note(title: "third's")) }
    try await group.settle()
    let author = group[2].identity.replica
    let other = [7].withUnsafeBytes { ContentHash(of: $0) }
    for receiver in [0, 2] {
      let source = try await relayed({ $0 }) { header in
        let chains = header.chains.map { origin, claim in
          (origin, origin.replica == author ? SyncFileHeader.Chain(other, proof: claim.proof) : claim)
        }
        return header.changing(chains: Dictionary(uniqueKeysWithValues: chains))
      }
      let report = try await group[receiver].import(from: source)
      #expect(report.attention.forks.isEmpty)
    }
    // The third has not been made to begin anew, and all continues.
    #expect(try await group[2].members.incarnations().filter { $0.replica == author }.count == 1)
    try await group[2].write { try $0.insert(Note(title: "later")) }
    try await group.settle()
    #expect(try await titles(0) == ["third's", "later"])
    #expect(try await group.digests().count == 1)
  }

  @Test("who passes on what an author wrote shows its word on that, not on another history of its that waited here")
  func signedTwice() async throws {
    for title in ["one", "two", "three"] { try await group[2].write { try $0.insert(Note(title: title)) } }
    let nobody = Origin(replica: ReplicaID(Identifier128(high: 8, low: 8)), incarnation: 1)
    // First all three, of which the last two wait; then a history that continues otherwise, and does not wait.
    let cause = SequenceNumber.none.next
    let waiting = try await relayed(
      by: 2,
      { records in
        records.map { numbered($0, $0.dot.sequence, $0.dot.sequence > cause ? [nobody: cause] : nil) }
      },
      { header in
        // Who passes on what had seen so much says that it holds so much.
        header.changing(
          vector: header.vector.union(VersionVector([nobody: cause])),
          chains: header.chains.merging([nobody: SyncFileHeader.Chain(.zero)]) { $1 })
      })
    #expect(try await group[1].import(from: waiting).waiting.transactions == 2)
    let other = try await relayed(by: 2) { records in
      [records[0], numbered(records[2], SequenceNumber.none.next.next, nil)]
    }
    #expect(try await group[1].import(from: other).applied.transactions == 1)
    #expect(try await titles(1) == ["one", "three"])
    let report = try await group.send(from: 1, to: 0)
    #expect(report.applied.transactions == 2 && report.attention.leftOut.isEmpty)
    #expect(try await titles(0) == ["one", "three"])
  }

  private func numbered(
    _ record: TransactionRecord, _ sequence: SequenceNumber, _ context: [Origin: SequenceNumber]?
  ) -> TransactionRecord {
    TransactionRecord(
      dot: Dot(record.dot.origin, sequence), hlc: record.hlc, schemaVersion: record.schemaVersion,
      context: context.map { VersionVector($0) }, changes: record.changes)
  }

  @Test("a state file with a history that its author has not signed is refused")
  func stateFile() async throws {
    try await group[2].write { try $0.insert(Note(title: "third's")) }
    try await group.send(from: 2, to: 1)
    let path = group.folder.file("stateFile")
    _ = try await group[1].exportState(to: .file(path))
    let keys = try Forgery.keys(of: group[1])
    let author = group[2].identity.replica
    let container = try Forgery.container(Forgery.bytes(path), keys.identity)
    let forged = try Forgery.replaceHeader(of: container, signedBy: keys.identity) { header in
      let origins = try #require(header.stateFile).origins.map { origin in
        origin.origin.replica == author ? origin.changing(proof: HeadProof.none) : origin
      }
      return header.changing(stateFile: StateHead(origins: origins, clock: try #require(header.stateFile).clock))
    }
    try Data(Forgery.seal(forged, to: Forgery.header(container).header.recipients)).write(
      to: URL(fileURLWithPath: path))
    // What it wrote without having seen the state file makes it load the state.
    try await group[0].write { try $0.insert(Note(title: "own")) }
    let error = await error { try await group[0].rejoin(from: .file(path)) }
    #expect(error?.code == .invalidSignature && error?.hint != nil)
    #expect(error?.message.contains("replica-2") == true, "\(error?.message ?? "")")
    #expect(try await titles(0) == ["own"])
    #expect(await code { try await Replica.verify(.file(path), at: group[0].path) } == .invalidSignature)
  }

  @Test("what is held of an author in part is passed on with what shows that it is the author's")
  func partly() async throws {
    // The third has seen what the second lacks: its last transaction waits there.
    try await group[2].write { try $0.insert(Note(title: "first of third's")) }
    try await group[0].write { try $0.insert(Note(title: "cause")) }
    try await group.send(from: 0, to: 2)
    try await group[2].write { try $0.insert(Note(title: "effect")) }
    let path = group.folder.file("effect")
    _ = try await group[2].export(to: .file(path), for: "replica-1")
    let keys = try Forgery.keys(of: group[2])
    let container = try Forgery.container(Forgery.bytes(path), keys.identity)
    let cause = group[0].identity.replica
    // A file without the cause.
    let records = try Forgery.transactions(Forgery.bytes(path), keys.identity).filter { $0.dot.origin.replica != cause }
    let (header, end) = try Forgery.header(container)
    let ranges = header.ranges.filter { $0.origin.replica != cause }
    var trailer = ByteWriter()
    trailer.byte(SyncFileFormat.Part.trailer.rawValue)
    trailer.bigEndian(UInt64(records.count))
    let parts =
      try Forgery.frame(Forgery.raw(records, of: ranges.map(\.origin), present: header.present)) + trailer.bytes
      + [UInt8](repeating: 0, count: 64)
    let forged = try Forgery.replaceHeader(of: Array(container[..<end] + parts), signedBy: keys.identity) { header in
      var chains = header.chains
      for range in header.ranges where range.origin.replica == cause { chains[range.origin] = .init(range.chainAtEnd) }
      return header.changing(ranges: ranges, chains: chains)
    }
    try Data(Forgery.seal(forged, to: header.recipients)).write(to: URL(fileURLWithPath: path))
    #expect(try await group[1].import(from: .file(path)).waiting.transactions == 1)
    #expect(try await titles(1) == ["first of third's"])
    let report = try await group.send(from: 1, to: 0)
    #expect(report.applied.transactions == 1 && report.attention.leftOut.isEmpty)
    #expect(try await titles(0) == ["first of third's", "cause"])
    try await group.settle()
    #expect(try await group.digests().count == 1)
  }
}
