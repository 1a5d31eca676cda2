import Foundation
import Godwit
import Testing

/// Long runs of inserts are captured without triggers, and compressed and hashed in blocks beside the writer.
@Suite("A long run of inserts")
struct InsertRunTests {
  private func note(_ number: Int) -> Note {
    var note = Note()
    note.title = "note \(number)"
    note.body = String(repeating: "word \(number) ", count: number % 40)
    return note
  }

  @Test("reaches other replicas whole, at every length around the block's", arguments: [60, 64, 65, 300, 1_000, 5_000])
  func lengths(count: Int) async throws {
    let group = try await TestGroup(2)
    try await group[0].write { transaction in
      for number in 0..<count { try transaction.insert(note(number)) }
    }
    try await group.send(from: 0, to: 1)
    #expect(try await group.digests().count == 1)
    #expect(try await group[1].count(Note.all) == count)
    #expect(try await group[0].maintenance.verify().isSound)
  }

  @Test("leaves out what savepoints took back, across blocks that were on their way", arguments: 1...6)
  func savepoints(seed: UInt64) async throws {
    let group = try await TestGroup(2)
    let kept = try await group[0].write { transaction in
      var generator = SeededGenerator(seed: seed)
      var kept = 0
      for _ in 0..<12 {
        let count = Int.random(in: 1...700, using: &generator)
        let isKept = Bool.random(using: &generator)
        try? transaction.savepoint {
          for number in 0..<count { try transaction.insert(note(number)) }
          if !isKept { throw CancellationError() }
        }
        if isKept { kept += count }
      }
      return kept
    }
    try await group.send(from: 0, to: 1)
    #expect(try await group[1].count(Note.all) == kept)
    #expect(try await group.digests().count == 1)
    #expect(try await group[0].maintenance.verify().isSound)
  }
}
