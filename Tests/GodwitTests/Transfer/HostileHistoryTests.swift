import Foundation
import GodwitBase
import GodwitKeys
import GodwitReplication
import Testing

@testable import Godwit
@testable import GodwitSyncFile

/// What a member signs that no program writes: a replica that has seen all of it takes in what others do.
@Suite("Histories that no program writes")
struct HostileHistoryTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group.settle()
    try await group[0].write { try $0.insert(Note(title: "here")) }
    for other in 1...2 { try await group.send(from: 0, to: other) }
    try await group[1].write { _ = try $0.execute("UPDATE note SET title = 'theirs'") }
  }

  @Test("a head that comes again with less of what leads to it proves what it proved")
  func headAgain() async throws {
    let author = try Identity.generate(replica: ReplicaID(Identifier128(high: 1, low: 2)))
    let origin = Origin(replica: author.replica, incarnation: 1)
    let digests = (1...4).map { number in [UInt8(number)].withUnsafeBytes { ContentHash(of: $0) } }
    let chains = digests.reduce(into: [ContentHash.zero]) { $0.append($0[$0.count - 1].followed(by: $1)) }
    let last = SequenceNumber(rawValue: 4)
    let head = try SignedHead.issue(group: group[0].group, origin, last, chains[4], by: author)
    let proof = try await group[0].withWriter { writer in
      let heads = SignedHeads(connection: writer.connection)
      var held = try writer.log.origins.head(of: origin)
      (held.sequence, held.chain) = (SequenceNumber(rawValue: 1), chains[1])
      try heads.keep(head, after: SequenceNumber(rawValue: 1), ahead: Array(digests[1...]), held: held)
      try heads.keep(head, after: SequenceNumber(rawValue: 3), ahead: [digests[3]], held: held)
      return try heads.proof(of: held)
    }
    #expect(proof?.ahead == Array(digests[1...]))
  }
}
