import GodwitBase
import GodwitCore
import Testing

/// Found by the simulator: a write that had left no stamp was not seen by the delete that came after it.
@Suite("Lost deletes")
struct LostDeleteTests {
  private let ada = Origin(replica: ReplicaID(Identifier128(high: 0, low: 1)), incarnation: 1)
  private let bob = Origin(replica: ReplicaID(Identifier128(high: 0, low: 2)), incarnation: 1)

  private func write(
    _ origin: Origin, _ sequence: UInt64, at time: UInt64, saw: [Origin: UInt64] = [:], _ kind: OperationKind,
    _ cells: [Cell] = []
  ) -> RowWrite {
    var context = VersionVector(saw.mapValues(SequenceNumber.init(rawValue:)))
    let dot = Dot(origin, SequenceNumber(rawValue: sequence))
    context[origin] = dot.sequence
    let stamp = CellStamp(hlc: HLC(rawValue: time), dot: dot)
    return RowWrite(kind: kind, stamp: stamp, context: context, cells: cells)
  }

  private func lost(_ writes: [RowWrite], _ deletes: DeletePolicy) throws -> [LostWrite] {
    let rules = RowRules(columns: 1..<4, deletes: deletes, policies: [1: .counter, 2: .maximum])
    var merge = RowMerge(RowState(), rules) { _ in .integer(0) }
    for write in writes { try merge.apply(write) }
    return merge.lost
  }

  private var insert: RowWrite {
    write(ada, 1, at: 1, .insert, (1...3).map { Cell(column: $0, value: .integer(1)) })
  }

  @Test("a delete that a counter's or maximum's edit outlives is listed, whichever comes first", arguments: [1, 2])
  func listDelete(column: Int) throws {
    let edit = write(bob, 1, at: 2, saw: [ada: 1], .update, [Cell(column: column, value: .integer(5))])
    let delete = write(ada, 2, at: 3, .delete)
    #expect(try lost([insert, edit, delete], .editWins).map(\.loser.dot) == [delete.stamp.dot])
    #expect(try lost([insert, delete, edit], .editWins).map(\.loser.dot) == [delete.stamp.dot])
  }

  @Test("an insert that lost its cells outlives a delete that had not seen it")
  func listDeleteAfterLesserInsert() throws {
    let lesser = write(bob, 1, at: 0, .insert, (1...3).map { Cell(column: $0, value: .integer(1)) })
    let delete = write(ada, 2, at: 3, .delete)
    #expect(try lost([insert, lesser, delete], .editWins).contains { $0.loser.dot == delete.stamp.dot })
  }

  @Test("where deletes win, a lost edit of a counter is listed, whichever comes first")
  func listLostCount() throws {
    let edit = write(bob, 1, at: 2, saw: [ada: 1], .update, [Cell(column: 1, value: .integer(5))])
    let delete = write(ada, 2, at: 3, .delete)
    #expect(try lost([insert, edit, delete], .deleteWins).map(\.part) == [.cell(1)])
    #expect(try lost([insert, delete, edit], .deleteWins).map(\.part) == [.cell(1)])
  }

  @Test(
    "many deletes and many edits that had not seen each other are listed once each", arguments: DeletePolicy.allCases)
  func listOnce(deletes: DeletePolicy) throws {
    let count: UInt64 = 2_000
    let cell = Cell(column: 3, value: .integer(2))
    let removing = (1...count).map { write(ada, $0 + 1, at: 10, saw: [:], .delete) }
    let editing = (1...count).map { write(bob, $0, at: 20 + $0, saw: [ada: 1], .update, [cell]) }
    for writes in [removing + editing, editing + removing] {
      let lost = try lost([insert] + writes, deletes)
      let expected =
        deletes == .editWins ? removing : writes.first == removing.first ? editing : [editing.last].compactMap { $0 }
      #expect(Set(lost.map(\.loser.dot)).isSuperset(of: expected.map(\.stamp.dot)))
      #expect(lost.count <= Int(count) + 3)
    }
  }

  @Test("where deletes win, a lost row that has nothing beside its key is listed, whichever comes first")
  func listLostKey() throws {
    let rules = RowRules(columns: 1..<1, deletes: .deleteWins)
    let first = write(ada, 1, at: 1, .insert)
    let delete = write(ada, 2, at: 3, .delete)
    let again = write(bob, 1, at: 4, saw: [ada: 1], .insert)
    for writes in [[first, delete, again], [first, again, delete]] {
      var merge = RowMerge(RowState(), rules) { _ in .null }
      for write in writes { try merge.apply(write) }
      #expect(merge.lost.map(\.part) == [.row])
      #expect(merge.lost.map(\.loser.dot) == [again.stamp.dot] && merge.lost.map(\.winner.dot) == [delete.stamp.dot])
      #expect(!merge.state.isAlive(.deleteWins))
    }
  }
}
