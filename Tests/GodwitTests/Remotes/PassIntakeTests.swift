import Foundation
import GodwitBase
import Testing

@testable import Godwit
@testable import GodwitCore
@testable import GodwitEngine
@testable import GodwitRemotes

/// Specs/remotes.md, "A pass": what who can write at a remote may have others fetch.
@Suite("Which files a pass takes")
struct PassIntakeTests {
  private static func file(_ name: RemoteName, size: Int = 1_000) -> CarriedFile {
    CarriedFile(name: "\(name)", size: size, tag: "t")
  }

  private static func mailbox(_ replica: ReplicaID, _ incarnation: UInt32) -> RemoteName {
    .mailbox(Origin(replica: replica, incarnation: incarnation))
  }

  private static func taken(_ name: RemoteName) -> RemoteNotes.File {
    RemoteNotes.File(name: "\(name)", tag: "t", at: 1, news: [])
  }

  private static let member = ReplicaID(Identifier128(high: 1, low: 1))

  @Test("are sixteen of each member's mailboxes that were never taken, and all that were")
  func unknown() {
    var intake = PassIntake()
    let limit = UInt32(PassIntake.unknownLimit)
    for incarnation in 1...limit + 3 {
      let name = Self.mailbox(Self.member, incarnation)
      intake.add(Self.file(name), name, isActive: true, note: nil)
    }
    let known = Self.mailbox(Self.member, 1_000)
    intake.add(Self.file(known), known, isActive: true, note: Self.taken(known))
    let other = Self.mailbox(ReplicaID(Identifier128(high: 1, low: 2)), 1)
    intake.add(Self.file(other), other, isActive: true, note: nil)
    let log = RemoteName.log(Origin(replica: Self.member, incarnation: 1), 1)
    intake.add(Self.file(log), log, isActive: true, note: nil)
    #expect(intake.files.count == Int(limit) + 3)
    #expect(intake.files.prefix(2).map(\.name) == [known, log].map { "\($0)" })
    #expect(
      Set(intake.files.dropFirst(2).map(\.name)).isSuperset(of: (1...limit).map { "\(Self.mailbox(Self.member, $0))" }))
    #expect(intake.files.contains { $0.name == "\(other)" })
  }

  @Test("are first those that were never looked at, then those that were longest ago")
  func turns() {
    var intake = PassIntake()
    for incarnation in 1...UInt32(20) {
      let name = Self.mailbox(Self.member, incarnation)
      var note = RemoteNotes.File(name: "\(name)", tag: "t", at: Int64(100 - incarnation), news: [])
      note.code = GodwitError.Code.corruptFile.rawValue
      intake.add(Self.file(name), name, isActive: true, note: incarnation == 2 ? nil : note)
    }
    let chosen = [2] + (6...20).map { UInt32($0) }
    #expect(intake.files.map(\.name) == chosen.map { "\(Self.mailbox(Self.member, $0))" })
  }

  @Test("are few small ones of strangers, after all members' files, and none of who was removed")
  func strangers() {
    var intake = PassIntake()
    for number in 1...UInt64(PassIntake.strangerLimit.count) + 5 {
      let name = Self.mailbox(ReplicaID(Identifier128(high: 2, low: number)), 1)
      let size = number == 1 ? PassIntake.strangerLimit.bytes + 1 : 1
      intake.add(Self.file(name, size: size), name, isActive: nil, note: nil)
    }
    let removed = Self.mailbox(ReplicaID(Identifier128(high: 3, low: 1)), 1)
    intake.add(Self.file(removed), removed, isActive: false, note: Self.taken(removed))
    let name = Self.mailbox(Self.member, 1)
    intake.add(Self.file(name), name, isActive: true, note: nil)
    #expect(intake.files.count == PassIntake.strangerLimit.count + 1)
    #expect(intake.files.first?.name == "\(name)")
    #expect(!intake.files.contains { $0.size > 1_000 || $0.name == "\(removed)" })
  }

  @Test("17: any number of files under a member's name costs a pass sixteen of them, and hides nothing for long")
  func forged() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.syncAll(2)
    let own = try await remote.mailbox(of: 1)
    let replica = remote[1].identity.replica
    let garbage = Data(repeating: 7, count: 5_000)
    for incarnation in UInt32(1)...40 {
      let name = "\(remote.remote)/\(Self.mailbox(replica, incarnation))"
      try garbage.write(to: URL(fileURLWithPath: name))
    }
    try await remote.insert("a", 1)
    try await remote.sync(1)
    #expect(try remote.mailboxes().count == 42 && FileManager.default.fileExists(atPath: own))
    // What was taken before is not counted with them.
    let first = try await remote.sync(0)
    #expect(first.refused.count == PassIntake.unknownLimit && first.error == nil)
    #expect(try await remote.ids(0) == ["a"])
    #expect(try await remote.sync(0).refused.count == PassIntake.unknownLimit)
    #expect(try await remote.sync(0).refused.count == 40 - 2 * PassIntake.unknownLimit)
    #expect(try await remote.sync(0).fetchedBytes == 0)
    // What is damaged is fetched again after an hour, and a new incarnation's mailbox before that.
    remote.group.clock.advance(3_600_000)
    let late = Self.mailbox(replica, .max)
    try FileManager.default.copyItem(atPath: own, toPath: "\(remote.remote)/\(late)")
    let last = try await remote.sync(0)
    #expect(last.refused.count == PassIntake.unknownLimit - 1 && last.taken.count == 1)
  }
}
