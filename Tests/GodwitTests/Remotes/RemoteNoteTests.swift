import Foundation
import GodwitBase
import GodwitFiles
import GodwitSimulation
import Testing

@testable import Godwit
@testable import GodwitCore
@testable import GodwitEngine
@testable import GodwitRemotes

/// A folder that answers for one name with what it is given, whatever the list shows.
private struct OtherAnswer: Carrier {
  let folder: FolderCarrier
  let name: String
  let bytes: [UInt8]
  let tag: String
  /// Where a disk does not give it: from its first bytes on, so that a list shows it, or in its midst.
  var badBlock: BadBlock?

  enum BadBlock { case first, later }

  /// What is wrong with what it answers.
  var refusal: GodwitError.Code?

  var mayBeAway: Bool { folder.mayBeAway }

  func list(_ folder: String, meter: TransferMeter) throws -> [CarriedFile] {
    try self.folder.list(folder, meter: meter).map {
      guard badBlock == .first, $0.name == name else { return $0 }
      return CarriedFile(name: name, size: $0.size, tag: "", isReadable: false)
    }
  }

  func find(_ name: String, meter: TransferMeter) throws -> CarriedFile? {
    if badBlock == .first, name == self.name { throw GodwitError.file("read", name, EIO) }
    return try folder.find(name, meter: meter)
  }

  func read(_ name: String, into sink: any ByteSink, limit: Int, meter: TransferMeter) throws -> CarriedFile? {
    if badBlock != nil, name == self.name { throw GodwitError(.truncatedFile, "Input/output error") }
    if let refusal, name == self.name { throw GodwitError(refusal, "planned") }
    guard name == self.name else { return try folder.read(name, into: sink, limit: limit, meter: meter) }
    try sink.write(bytes)
    // As a store that does not say the size.
    return CarriedFile(name: name, size: 0, tag: tag)
  }

  func write(_ name: String, from path: String, meter: TransferMeter) throws -> CarriedFile {
    try folder.write(name, from: path, meter: meter)
  }

  func remove(_ name: String, meter: TransferMeter) throws { try folder.remove(name, meter: meter) }

  func honoursConditions(_ name: String, from path: String) throws -> Bool? {
    try folder.honoursConditions(name, from: path)
  }
}

/// What a replica notes of others' files must not keep from it what it lacks.
@Suite("What is noted of a remote's files")
struct RemoteNoteTests {
  private static let hour: Int64 = 3_600_000

  /// The bytes of a replica's mailbox.
  private func bytes(of index: Int, _ remote: RemoteGroup) async throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: try await remote.mailbox(of: index))))
  }

  /// Two replicas, of which the first was set back to before it published b, and its mailbox, which has that.
  private func setBack() async throws -> (remote: RemoteGroup, mailbox: [UInt8]) {
    var remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    try await remote.losing(0) { remote in
      try await remote.insert("b", 0)
      try await remote.sync(0)
    }
    return (remote, try await bytes(of: 0, remote))
  }

  private func answer(_ bytes: [UInt8], for index: Int, _ remote: RemoteGroup) async throws -> OtherAnswer {
    let name = "m/\(URL(fileURLWithPath: try await remote.mailbox(of: index)).lastPathComponent)"
    return OtherAnswer(folder: FolderCarrier(remote.remote), name: name, bytes: bytes, tag: "of an answer")
  }

  @Test("37: a list that shows a new file where an earlier one is answered does not hide the new one")
  func earlierAnswer() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let earlier = try await bytes(of: 0, remote)
    try await remote.insert("b", 0)
    try await remote.sync(0)
    let carrier = try await answer(earlier, for: 0, remote)
    // However often: it has another size.
    for _ in 0..<3 {
      #expect(try await remote[1].sync(over: carrier, as: "stick").taken.count == 1)
      #expect(try await remote.ids(1) == ["a"])
      // Not before an hour has passed.
      #expect(try await remote.sync(1).fetchedBytes == 0)
      remote.group.clock.advance(Self.hour)
    }
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["a", "b"])
    #expect(try await remote.sync(1).fetchedBytes == 0)
  }

  @Test("37: where an earlier file is answered as the own one, the one that is listed is not replaced")
  func earlierOwn() async throws {
    var remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let earlier = try await bytes(of: 0, remote)
    try await remote.losing(0) { remote in
      try await remote.insert("b", 0)
      try await remote.sync(0)
    }
    let listed = try await bytes(of: 0, remote)
    let carrier = try await answer(earlier, for: 0, remote)
    let report = try await remote[0].sync(over: carrier, as: "stick")
    #expect(report.error?.code == .unreachable && report.published == nil)
    #expect(try await bytes(of: 0, remote) == listed)
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["a", "b"])
  }

  @Test("where a disk does not give the own file, it is not replaced", arguments: [true, false])
  func unreadOwn(isFirst: Bool) async throws {
    let (remote, listed) = try await setBack()
    var carrier = try await answer(listed, for: 0, remote)
    carrier.badBlock = isFirst ? .first : .later
    let report = try await remote[0].sync(over: carrier, as: "stick")
    #expect(report.error != nil && report.published == nil)
    #expect(try await bytes(of: 0, remote) == listed)
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["a", "b"])
  }

  @Test(
    "the own file that may be taken later is left for a day",
    arguments: [
      .unsupportedVersion, .migrationMismatch, .unknownBase, .importConstraint, .limitExceeded,
    ] as [GodwitError.Code])
  func untakenOwn(code: GodwitError.Code) async throws {
    let (remote, listed) = try await setBack()
    var carrier = try await answer(listed, for: 0, remote)
    carrier.refusal = code
    for _ in 0..<2 {
      let report = try await remote[0].sync(over: carrier, as: "stick")
      #expect(report.refused.map(\.error.code) == [code] && report.published == nil)
      #expect(report.refused.first?.error.hint?.contains("a day") == true)
      #expect(try await bytes(of: 0, remote) == listed)
      remote.group.clock.advance(Self.hour)
    }
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["a", "b"])
  }

  @Test("the own file that cannot be taken is replaced after a day, and a damaged one at once")
  func strangeOwn() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    // A list has shown it.
    try await remote.sync(0)
    let path = try await remote.mailbox(of: 0)
    var carrier = try await answer([], for: 0, remote)
    for (code, isLeft) in [(GodwitError.Code.unsupportedVersion, true), (.corruptFile, false)] {
      try Data("\(code)".utf8).write(to: URL(fileURLWithPath: path))
      carrier.refusal = code
      let first = try await remote[0].sync(over: carrier, as: "stick")
      #expect((first.published == nil) == isLeft, "\(first)")
      remote.group.clock.advance(24 * Self.hour)
      if isLeft { #expect(try await remote[0].sync(over: carrier, as: "stick").published != nil) }
      carrier.refusal = nil
      #expect(try await remote.sync(0).refused.isEmpty)
    }
  }

  @Test("a file that nobody would fetch is not published, and says so", arguments: [true, false])
  func tooLarge(isState: Bool) async throws {
    var tuning = Replica.Tuning()
    tuning.remoteFileSize = 40_000
    tuning.logFileSize = 20_000
    var remote = try await RemoteGroup(2, tuning)
    for _ in 0..<200 { try await remote.insert((0..<60).map { _ in "\(UInt64.random(in: 0 ... .max))" }.joined(), 0) }
    guard isState else {
      let error = try await remote.sync(0).error
      #expect(error?.code == .limitExceeded && error?.hint?.contains("--collect") == true)
      #expect(!FileManager.default.fileExists(atPath: "\(remote.remote)/m"))
      // As the hint says, it comes in pieces. It stays an error, for pieces are removed after a week.
      let report = try #require(try await remote[0].sync(isCollecting: true).remotes.first)
      #expect(report.error?.code == .limitExceeded && report.published == nil)
      #expect(report.publishedLog?.transactions == 200)
      try await remote.sync(1)
      #expect(try await remote.ids(1).count == 200)
      return
    }
    for _ in 0..<3 { try await remote.group.exchange() }
    for index in 0..<2 { try await remote[index].maintenance.compact() }
    try await remote.group.join()
    for _ in 0..<2 {
      let report = try await remote.sync(0)
      #expect(report.refused.map(\.error.code) == [.limitExceeded] && report.publishedState == nil)
    }
    #expect(!FileManager.default.fileExists(atPath: "\(remote.remote)/s"))
  }

  @Test("37: a store that writes its tags otherwise in answers is read once more for a file, and then believed")
  func otherForm() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.insert("a", 0)
    try await remote.sync(0)
    let carrier = try await answer(try await bytes(of: 0, remote), for: 0, remote)
    for isFetched in [true, false, true, false, false] {
      let report = try await remote[1].sync(over: carrier, as: "stick")
      #expect(report.taken.count == (isFetched ? 1 : 0))
      if !isFetched { remote.group.clock.advance(Self.hour) }
    }
    #expect(try await remote.ids(1) == ["a"])
  }

  @Test("22: what a state that was taken by hand does not have is taken once more from the remote")
  func stateByHand() async throws {
    let remote = try await RemoteGroup(2)
    try await remote.syncAll(2)
    try await remote.insert("unaware", 1)
    try await remote.insert("a", 0)
    let state = remote.group.folder.file("state")
    _ = try await remote[0].exportState(to: .file(state))
    try await remote.insert("b", 0)
    try await remote.sync(0)
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["a", "b", "unaware"])
    #expect(try await remote[1].rejoin(from: .file(state)).applied.state != nil)
    #expect(try await remote.ids(1) == ["a", "unaware"])
    try await remote.sync(1)
    #expect(try await remote.ids(1) == ["a", "b", "unaware"])
    try await remote.syncAll(2)
    #expect(try await remote.group.digests().count == 1)
  }

  @Test("19: a state that the store went back to is replaced by the one that was there")
  func oldState() async throws {
    var remote = try await RemoteGroup(2)
    for number in 0..<3 { try await remote.insert("\(number)", number % 2) }
    try await remote.syncAll(3)
    try await remote[0].maintenance.compact()
    try await remote.group.join()
    #expect(try await remote.sync(0).publishedState != nil)
    let states = "\(remote.remote)/s"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: states).first)
    try Data(repeating: 7, count: 1_000).write(to: URL(fileURLWithPath: "\(states)/\(name)"))
    #expect(try await remote.sync(0).publishedState != nil)
    let report = try await remote.sync(0)
    #expect(report.publishedState == nil && report.fetchedBytes == 0)
    try await remote[2].remotes.add("stick", at: remote.remote)
    try await remote.sync(2)
    #expect(try await remote.ids(2).count == 3)
  }

  @Test("24: work of a removed member that comes before what it was written upon comes once more")
  func incomplete() async throws {
    let remote = try await RemoteGroup(4)
    try await remote.syncAll(3)
    // Mailboxes are taken in the order of their names, so that the one that passes on comes first.
    let others = (1...3).sorted { remote[$0].identity.replica < remote[$1].identity.replica }
    let (relay, former, author) = (others[0], others[1], others[2])
    try await remote.insert("cause", author)
    try await remote.sync(author)
    try await remote.sync(former)
    try await remote.insert("effect", former)
    for index in [former, relay] { try await remote.sync(index) }
    // The author never gets the effect itself.
    try await remote[author].members.remove("\(remote[former].identity.replica)")
    try await remote.insert("later", author)
    for index in [author, relay] { try await remote.sync(index) }
    #expect(try await remote.ids(author) == ["cause", "later"])
    #expect(try await remote.sync(0).taken.contains { !$0.attention.dropped.isEmpty })
    #expect(try await remote.ids(0) == ["cause", "effect", "later"])
  }

  @Test("24: for work of a member that was removed no state is kept there")
  func stateForRemoved() async throws {
    var remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try await remote.setAside(2, as: "backup")
    try await remote.insert("forgotten", 0)
    for index in [0, 1, 2, 0, 1] { try await remote.sync(index) }
    try await remote[0].maintenance.compact()
    try await remote.restore(2, from: "backup")
    try await remote.insert("unaware", 2)
    for index in [2, 1] { try await remote.sync(index) }
    #expect(try await remote.sync(0).publishedState != nil)
    try await remote[0].members.remove("replica-2")
    try await remote.sync(0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(remote.remote)/s").isEmpty)
  }

  @Test("23: what lies only with an incarnation that has ended is passed on by who holds it")
  func ended() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try await remote.insert("late", 2)
    try await remote.sync(2)
    try await remote.sync(1)
    let ended = try await remote[2].standing().own.incarnationID
    try await remote[1].members.end(ended, of: "replica-2")
    #expect(try await remote.sync(1).published?.transactions == 1)
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["late"])
  }

  @Test("24: what lies only with a member that was removed is passed on by who holds it")
  func removed() async throws {
    let remote = try await RemoteGroup(3)
    try await remote.syncAll(3)
    try await remote.insert("last", 2)
    try await remote.sync(2)
    try await remote.sync(1)
    try await remote[1].members.remove("\(remote[2].identity.replica)")
    #expect(try await remote.sync(1).published?.transactions == 1)
    try await remote.sync(0)
    #expect(try await remote.ids(0) == ["last"])
  }

  @Test("a file that brings something left out, and shows that its author's state is needed, says both")
  func mutual() {
    func file(_ code: String?) -> RemoteNotes.File {
      RemoteNotes.File(name: "", tag: nil, code: code, at: 0, news: [])
    }
    let both = file(RemoteNotes.File.mutual)
    #expect(both.needsState && both.hasLeftOut && !both.isTaken)
    let leftOut = file(RemoteNotes.File.leftOut)
    #expect(!leftOut.needsState && leftOut.hasLeftOut && leftOut.isTaken)
    let fenced = file(GodwitError.Code.fenced.rawValue)
    #expect(fenced.needsState && !fenced.hasLeftOut && !fenced.isTaken)
    #expect(file(nil).isTaken && !file(RemoteNotes.File.incomplete).isTaken)
    var doubtful = file(RemoteNotes.File.leftOut)
    doubtful.doubt = "of an answer"
    #expect(doubtful.hasLeftOut && !doubtful.isTaken)
  }
}
