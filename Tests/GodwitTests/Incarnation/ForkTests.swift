import Foundation
import Godwit
import GodwitBase
import GodwitCore
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Forks")
struct ForkTests {
  /// Opens a copy whose anchor says that it is none, as after cloning a virtual machine with its disk.
  private func clone(_ group: TestGroup, _ index: Int) async throws -> (original: Replica, clone: Replica) {
    await group[index].close()
    guard case .anchor(let anchor) = try group[index].folder.anchor.read() else { throw CancellationError() }
    let path = try group.copyFolder(index, to: "clone")
    try AnchorFile(path: "\(path)/keyring.anchor").write(anchor, isDurable: false)
    let original = try await TestGroup.open(group.path(index), group.clock)
    return (original, try await TestGroup.open(path, group.clock))
  }

  @Test("of a virtual machine cloned with all it has are found by the chain; the rest of the file is taken in")
  func clonedMachine() async throws {
    let group = try await TestGroup(3)
    try await group[0].insertNotes(["shared 1", "shared 2"])
    try await group.settle()
    let (original, clone) = try await clone(group, 0)
    #expect(try await clone.incarnation() == original.incarnation())

    try await original.insertNotes(["original 1", "original 2"])
    try await clone.insertNotes(["clone 1"])
    try await group[2].insertNotes(["from 2"])
    try await carry(from: group[2], to: clone, in: group.folder)
    try await carry(from: original, to: group[1], in: group.folder)
    let before = try await group[1].status()
    let report = try await carry(from: clone, to: group[1], in: group.folder)

    #expect(report.attention.forks == [MergeReport.Fork(replica: original.identity.replica, sequence: 3)])
    #expect(report.applied.transactions == 1 && report.applied.duplicates == 0)
    #expect(try await group[1].titles() == ["from 2", "original 1", "original 2", "shared 1", "shared 2"])
    #expect(try await group[1].status().staged == before.staged)
    #expect(try await group[1].maintenance.verify().problems == [])
    for replica in [original, clone] { await replica.close() }
  }

  @Test("a replica that meets its own fork writes under a new incarnation from then on, and keeps what it has")
  func ownFork() async throws {
    let group = try await TestGroup(2)
    try await group[0].insertNotes(["shared"])
    let (original, clone) = try await clone(group, 0)
    let before = try await original.incarnation()
    try await original.insertNotes(["original"])
    try await clone.insertNotes(["clone"])

    let report = try await carry(from: clone, to: original, in: group.folder, all: true)
    #expect(report.attention.forks.map(\.sequence) == [2])
    #expect(report.applied.duplicates == 1 && report.applied.transactions == 0)
    let after = try await original.incarnation()
    #expect(after != before)
    #expect(try await original.titles() == ["original", "shared"])
    // Once is enough, and it outlives the process.
    _ = try await carry(from: clone, to: original, in: group.folder, all: true)
    await original.close()
    let again = try await TestGroup.open(group.path(0), group.clock)
    #expect(try await again.incarnation() == after)

    try await again.insertNotes(["afterwards"])
    let there = try await carry(from: again, to: group[1], in: group.folder)
    #expect(there.applied.transactions == 3 && there.attention.forks.isEmpty)
    #expect(try await group[1].titles() == ["afterwards", "original", "shared"])
    #expect(try await again.maintenance.verify().problems == [])
    for replica in [again, clone] { await replica.close() }
  }

  @Test("a machine rolled back with all it has takes a new incarnation when a file names more of its own, and gets it")
  func rolledBackMachine() async throws {
    let group = try await TestGroup(2)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, earlier) = try await clone(group, 0)
    try await original.insertNotes(["lost 1", "lost 2"])
    try await carry(from: original, to: group[1], in: group.folder)
    let before = try await original.incarnation()
    await original.close()

    #expect(try await carry(from: group[1], to: earlier, in: group.folder).attention.forks.isEmpty)
    #expect(try await earlier.incarnation() != before)
    try await earlier.insertNotes(["new"])
    for (sender, receiver) in [(earlier, group[1]), (group[1], earlier)] {
      #expect(try await carry(from: sender, to: receiver, in: group.folder).attention.forks.isEmpty)
    }
    #expect(try await earlier.titles() == ["lost 1", "lost 2", "new", "shared"])
    #expect(try await earlier.maintenance.digest() == group[1].maintenance.digest())
    await earlier.close()
  }

  @Test("stay known while the clone's history comes in several files, of which each shows a part", arguments: [0, 1])
  func inSeveralFiles(order: Int) async throws {
    let group = try await TestGroup(3)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 0)
    try await original.insertNotes(["original 1", "original 2"])
    try await carry(from: original, to: group[1], in: group.folder)
    for _ in 0..<60 { try await clone.writeNoise(600) }
    let report = try await clone.export(
      to: .files(group.folder.file("changes"), maximumByteCount: 16_384), includesAll: true)
    #expect(report.files.count >= 3)
    let before = try await group[1].maintenance.digest()
    for file in order == 0 ? report.files : report.files.reversed() {
      let merge = try await group[1].import(from: .file(file.path))
      #expect(merge.applied.transactions == 0)
      if order == 0 { #expect(merge.attention.forks.map(\.sequence) == [2], "\(file)") }
    }
    #expect(try await group[1].maintenance.digest() == before)
    // What it has said that it holds is known to be of another history, so it is shown the one here.
    let told = try await carry(from: group[1], to: clone, in: group.folder)
    #expect(told.attention.forks.map(\.sequence) == [2])
    for replica in [original, clone] { await replica.close() }
  }

  @Test("a clone learns of its fork from whoever met both histories")
  func toldOfFork() async throws {
    let group = try await TestGroup(2)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 0)
    try await original.insertNotes(["original"])
    try await clone.insertNotes(["clone"])
    try await carry(from: original, to: group[1], in: group.folder)
    try await carry(from: clone, to: group[1], in: group.folder)
    let before = try await clone.incarnation()
    let report = try await carry(from: group[1], to: clone, in: group.folder)
    #expect(report.attention.forks.map(\.sequence) == [2])
    #expect(try await clone.incarnation() != before)
    #expect(try await original.incarnation() == before)
    for replica in [original, clone] { await replica.close() }
  }

  @Test("what depends on the other history stages, and never shows a row that is not here")
  func dependants() async throws {
    let group = try await TestGroup(3)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 0)
    try await original.insertNotes(["original 1", "original 2", "original 3"])
    try await clone.insertNotes(["clone"])
    try await carry(from: clone, to: group[2], in: group.folder)
    try await group[2].write { _ = try $0.execute("UPDATE note SET views = 9 WHERE title = 'clone'") }
    try await carry(from: original, to: group[1], in: group.folder)

    for _ in 0..<2 {
      let report = try await carry(from: group[2], to: group[1], in: group.folder)
      #expect(report.attention.forks.map(\.sequence) == [2])
      #expect(report.applied.transactions == 0 && report.waiting.transactions == 1)
      #expect(try await group[1].titles() == ["original 1", "original 2", "original 3", "shared"])
    }
    // Nor does a file without a range of the forked origin show them, since others hold all of it by number.
    try await carry(from: group[1], to: group[2], in: group.folder)
    try await group[2].write { _ = try $0.execute("UPDATE note SET views = 10 WHERE title = 'clone'") }
    let late = try await carry(from: group[2], to: group[1], in: group.folder)
    #expect(late.attention.forks.count == 1 && late.applied.transactions == 0)
    // Nor do files of those who hold what is here release it.
    try await original.insertNotes(["later"])
    try await carry(from: original, to: group[1], in: group.folder)
    #expect(try await group[1].titles().count == 5)
    #expect(try await group[1].status().staged == 2)
    for replica in [original, clone] { await replica.close() }
  }

  @Test("what had seen the other history is not passed on to those who hold this one, and not applied there")
  func notPassedOn() async throws {
    let group = try await TestGroup(4)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 0)
    try await original.write { _ = try $0.execute("UPDATE note SET views = 1") }
    try await clone.write { _ = try $0.execute("UPDATE note SET views = 2") }
    try await carry(from: clone, to: group[2], in: group.folder)
    try await group[2].write { _ = try $0.execute("UPDATE note SET views = 3") }
    for member in [1, 3] { try await carry(from: original, to: group[member], in: group.folder) }
    #expect(try await group.send(from: 2, to: 1).waiting.transactions == 1)
    for (sender, receiver) in [(1, 3), (3, 1)] {
      let report = try await group.send(from: sender, to: receiver, all: true)
      #expect(report.applied.transactions == 0)
      #expect(try await group[receiver].fetch(Note.all).map(\.views) == [1])
    }
    for replica in [original, clone] { await replica.close() }
  }

  @Test("are mended where nobody has written since: rejoining takes the other's state", arguments: [0, 1])
  func mendedAtRest(side: Int) async throws {
    let group = try await TestGroup(3)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 2)
    try await original.insertNotes(["for 0"])
    try await clone.insertNotes(["for 1"])
    try await carry(from: original, to: group[0], in: group.folder)
    try await carry(from: clone, to: group[1], in: group.folder)
    for (sender, receiver) in [(0, 1), (1, 0)] {
      #expect(try await group.send(from: sender, to: receiver).attention.forks.count == 1)
    }
    try await group[0].members.remove("replica-2")
    if side == 0 { try await group.send(from: 0, to: 1) }
    let state = group.folder.file("state")
    _ = try await group[1 - side].exportState(to: .file(state))
    #expect(try await group[side].rejoin(from: .file(state)).applied.state != nil)
    #expect(try await group[0].titles() == group[1].titles())
    #expect(try await group[side].status().forks.isEmpty)
    for replica in [original, clone] { await replica.close() }
  }

  @Test("do not come of a machine rolled back with all it has that is given a state: it takes a new incarnation")
  func rolledBackToState() async throws {
    var group = try await TestGroup(1)
    try await group[0].insertNotes(["of 0"])
    try await group[0].maintenance.compact()
    try await group.add()
    let (original, copy) = try await clone(group, 1)
    let state = group.folder.file("state")
    _ = try await group[0].exportState(to: .file(state))
    _ = try await original.import(from: .file(state))
    try await original.insertNotes(["n1", "n2"])
    try await carry(from: original, to: group[0], in: group.folder)
    try await original.insertNotes(["n3"])
    let late = group.folder.file("late")
    _ = try await original.export(to: .file(late))
    let before = try await original.incarnation()

    _ = try await group[0].exportState(to: .file(state))
    #expect(try await copy.import(from: .file(state)).applied.state != nil)
    #expect(try await copy.incarnation() != before)
    try await copy.insertNotes(["other n3"])
    try await carry(from: copy, to: group[0], in: group.folder)
    #expect(try await group[0].import(from: .file(late)).attention.forks.isEmpty)
    for replica in [original, copy] { await replica.close() }
  }

  @Test("an edit of what both histories share is applied, whichever way it comes")
  func sharedRow() async throws {
    let group = try await TestGroup(3)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 0)
    try await original.insertNotes(["original"])
    try await clone.insertNotes(["clone"])
    try await carry(from: original, to: group[1], in: group.folder)
    try await group[2].write { _ = try $0.execute("UPDATE note SET views = 9") }
    try await carry(from: group[2], to: clone, in: group.folder)
    try await carry(from: group[1], to: clone, in: group.folder)
    let first = try await carry(from: clone, to: group[1], in: group.folder)
    #expect(first.attention.forks.count == 1 && first.applied.transactions == 1)
    #expect(try await group[1].fetch(Note.where { $0.views == 9 }).map(\.title) == ["shared"])
    #expect(try await group[1].status().staged == 0)
    for replica in [original, clone] { await replica.close() }
  }

  @Test("that are only known to have parted before a number cast doubt on every context that names the origin")
  func doubt() throws {
    let origin = Origin(replica: ReplicaID(Identifier128(high: 1, low: 2)), incarnation: 3)
    let other = Origin(replica: ReplicaID(Identifier128(high: 1, low: 9)), incarnation: 3)
    func context(_ origin: Origin, _ sequence: UInt64) -> VersionVector {
      VersionVector([origin: SequenceNumber(rawValue: sequence)])
    }
    var watch = ForkWatch { _ in nil }
    watch.part(origin, at: SequenceNumber(rawValue: 5), isExact: false)
    #expect(try watch.isForeign(context(origin, 1)))
    #expect(try !watch.isForeign(context(other, 7)))
    watch.part(origin, at: SequenceNumber(rawValue: 5), isExact: true)
    #expect(try !watch.isForeign(context(origin, 4)))
    #expect(try watch.isForeign(context(origin, 5)))
  }

  @Test("part where the first number stands for two transactions, however many both sides hold")
  func partingPoint() async throws {
    let group = try await TestGroup(2)
    let shared = 300
    try await group[0].insertNotes((0..<shared).map { "shared \($0)" })
    let (original, clone) = try await clone(group, 0)
    try await original.insertNotes((0..<5).map { "original \($0)" })
    try await clone.insertNotes((0..<9).map { "clone \($0)" })
    try await carry(from: original, to: group[1], in: group.folder)
    let report = try await carry(from: clone, to: group[1], in: group.folder, all: true)
    #expect(report.attention.forks.map(\.sequence) == [UInt64(shared) + 1])
    #expect(report.applied.duplicates == shared && report.applied.transactions == 0 && report.waiting.transactions == 0)
    #expect(try await group[1].count(Note.all) == shared + 5)
    for replica in [original, clone] { await replica.close() }
  }

  @Test(
    "two histories of one member are mended where one side takes the other's state, and nothing of the others' work is lost"
  )
  func mended() async throws {
    let group = try await TestGroup(5)
    try await group[0].insertNotes(["shared"])
    try await group.settle()
    let (original, clone) = try await clone(group, 4)
    try await original.insertNotes(["mallory's for alice"])
    try await clone.insertNotes(["mallory's for bob"])
    try await carry(from: original, to: group[0], in: group.folder)
    try await carry(from: clone, to: group[1], in: group.folder)
    for (author, follower) in [(0, 2), (1, 3)] {
      try await group[author].insertNotes(["of \(author)"])
      try await group.send(from: author, to: follower)
      try await group[follower].insertNotes(["of \(follower)"])
      try await group.send(from: follower, to: author)
    }
    #expect(try await group.send(from: 0, to: 1).attention.forks.count == 1)
    #expect(try await group.send(from: 1, to: 0).attention.forks.count == 1)
    #expect(try await group[0].titles() == ["mallory's for alice", "of 0", "of 2", "shared"])
    for (side, other) in [(0, 1), (1, 0)] {
      let forks = try await group[side].status().forks
      #expect(
        forks.map(\.replica) == [original.identity.replica] && forks.map(\.shownBy) == [group[other].identity.replica])
    }

    try await group[0].members.remove("replica-4")
    for side in [1, 3] {
      let state = group.folder.file("state")
      _ = try await group[0].exportState(to: .file(state))
      _ = try await group[side].rejoin(from: .file(state))
      try await group.send(from: side, to: 0)
    }
    for _ in 0..<2 {
      for sender in 0..<4 {
        for receiver in 0..<4 where receiver != sender {
          let report = try await group.send(from: sender, to: receiver)
          #expect(report.attention.forks.isEmpty && report.attention.leftOut.isEmpty)
        }
      }
    }
    for member in 0..<4 {
      #expect(try await group[member].titles() == ["mallory's for alice", "of 0", "of 1", "of 2", "of 3", "shared"])
      let status = try await group[member].status()
      #expect(status.staged == 0 && status.missing.isEmpty && status.forks.isEmpty)
      #expect(try await group[member].maintenance.verify().isSound)
    }
    for replica in [original, clone] { await replica.close() }
  }
}
