import Foundation
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCrypto
@testable import GodwitKeys
@testable import GodwitSyncFile

/// 1 gives 2, which is new, a state in which every number is as bad as a member can sign it.
@Suite("A hostile first state")
struct HostileStateTests {
  private let group: TestGroup

  init() async throws {
    group = try await TestGroup(3)
    try await group[0].write { try $0.insert(Note(title: "alice's")) }
    try await group.send(from: 0, to: 1)
    try await group[1].write { try $0.insert(Note(title: "mallory's")) }
    let path = group.folder.file("state")
    _ = try await group[1].exportState(to: .file(path))
    let mallory = try Forgery.keys(of: group[1]).identity
    let sealed = try Forgery.bytes(path)
    let container = try Forgery.container(sealed, mallory)
    let (header, end) = try Forgery.header(container)
    let alice = try await group[0].withWriter { $0.log.origins.own }
    // All is said to be forgotten, so that the state is all there is.
    let items = try Forgery.stateItems(sealed, mallory).filter { if case .transaction = $0 { false } else { true } }
    let replaced = Array(container[..<end]) + (try Forgery.stateBlock(items))
    let forged = try Forgery.replaceHeader(of: replaced, signedBy: mallory) { header in
      let origins = try #require(header.stateFile).origins.map {
        $0.changing(folded: $0.sequence, floor: $0.sequence, floorChain: $0.chain)
      }
      return header.changing(
        ended: [alice: SequenceNumber(rawValue: 1)],
        stateFile: StateHead(origins: origins, clock: HLC(rawValue: HLC.limit.rawValue - 1)))
    }
    try Data(Forgery.seal(forged, to: header.recipients)).write(to: URL(fileURLWithPath: path))
    let report = try await group[2].import(from: .file(path))
    #expect(report.applied.state?.rows == 2)
  }

  @Test("leaves the new replica able to write every row, and others take it")
  func writing() async throws {
    try await group[2].write { _ = try $0.execute("UPDATE note SET body = 'bob was here'") }
    try await group[2].write { try $0.insert(Note(title: "bob's")) }
    try await group.send(from: 0, to: 2)
    try await group.send(from: 2, to: 0)
    #expect(try await group[0].fetch(Note.all).map(\.title).sorted() == ["alice's", "bob's", "mallory's"])
  }

  @Test(
    "is mended by rejoining with another member's state once its author is removed, also if nobody has written since",
    arguments: [true, false])
  func rejoining(writes: Bool) async throws {
    if writes {
      try await group[2].write { try $0.insert(Note(title: "bob's")) }
      try await group[0].write { _ = try $0.execute("UPDATE note SET body = 'later'") }
    }
    try await group[0].members.remove("replica-1")
    let path = group.folder.file("alice")
    _ = try await group[0].exportState(to: .file(path))
    _ = try await group[2].rejoin(from: .file(path))
    let replicas = [group[0], group[2]]
    for _ in 0..<3 {
      for replica in replicas { try await replica.write { _ = try $0.execute("UPDATE note SET views = views + 1") } }
      try await group.send(from: 0, to: 2)
      try await group.send(from: 2, to: 0)
    }
    try await group.send(from: 0, to: 2)
    #expect(try await Set([group[0].maintenance.digest(), group[2].maintenance.digest()]).count == 1)
    #expect(try await group[0].fetch(Note.all).map(\.title).sorted() == (writes ? ["alice's", "bob's"] : ["alice's"]))
    for replica in replicas {
      let status = try await replica.status()
      #expect(status.staged == 0 && status.missing.isEmpty)
      #expect(try await replica.maintenance.verify().isSound)
    }
    // What is new is not written beyond the clock any more.
    try await group[2].write { try $0.insert(Note(title: "new")) }
    let logged = try await group[2].rows("SELECT hlc FROM godwit_log ORDER BY id DESC LIMIT 1").first
    guard case .integer(let latest)? = logged?.values.first else { return #expect(Bool(false), "nothing was logged") }
    #expect(HLC(rawValue: UInt64(bitPattern: latest)).milliseconds < 1_800_000_000_000)
  }
}
