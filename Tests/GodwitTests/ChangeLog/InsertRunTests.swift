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

  /// A value that its column keeps in another form, as an integer or without the sign of zero.
  private struct Odd: ColumnValue, Equatable {
    static var storageType: StorageType { .real }
    var value = -0.0
    func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(value) }
    static func read(from reader: borrowing ColumnReader) throws -> Odd { Odd(value: try reader.real()) }
    func storedValue() throws -> Value { .real(value) }
  }

  private struct Whole: ColumnValue, Equatable {
    static var storageType: StorageType { .integer }
    var value = 1.0
    func bind(to binder: borrowing ColumnBinder) throws { try binder.bind(value) }
    static func read(from reader: borrowing ColumnReader) throws -> Whole { Whole(value: try reader.real()) }
    func storedValue() throws -> Value { .real(value) }
  }

  private struct Reading: Model {
    static let schema = Schema<Self>("reading") {
      Column("odd", \.odd)
      Column("whole", \.whole)
    }
    var id = 0
    var odd = Odd()
    var whole = Whole()
  }

  @Test("logs values in the form that their columns keep")
  func converted() async throws {
    let group = try await MergeGroup(2, models: [Reading.self])
    try await group[0].write { transaction in
      for number in 1...200 {
        try transaction.insert(Reading(id: number, odd: Odd(), whole: Whole(value: Double(number))))
      }
    }
    #expect(try await group[0].maintenance.verify().problems == [])
    try await group.exchange()
    let differing = try await group[0].rows(
      "SELECT id FROM reading WHERE typeof(whole) <> 'integer' OR typeof(odd) <> 'real'")
    #expect(differing.isEmpty)
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
