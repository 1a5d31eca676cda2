import GodwitBase
import GodwitModel
import GodwitCore
import GodwitStorage

/// What an item of a state file must be, for who loads it and for who only looks (Specs/state-file.md, "Items").
package struct StateCheck {
  /// All that the state file knows.
  let vector: VersionVector

  package init(vector: VersionVector) { self.vector = vector }

  /// Refuses anything but a row as the table keeps it.
  package func checkRow(_ values: ArraySlice<UInt8>, of table: TableDefinition) throws {
    try check(values, count: table.columns.count)
    guard try table.mayConvert(values) else { return }
    var reader = ByteReader(values)
    for column in table.columns.indices {
      guard try !table.mayConvert(reader.value(), in: column) else {
        throw ByteReader.malformed("a value that column \(table.columns[column].name) keeps in another form")
      }
    }
  }

  /// Refuses anything but so many values that a database may hold.
  package func check(_ values: ArraySlice<UInt8>, count: Int) throws {
    var reader = ByteReader(values)
    for _ in 0..<count { _ = try reader.encodedValue() }
    try reader.expectEnd()
    try values.withUnsafeBytes(EncodedRow.check)
  }

  /// Columns are used as places in a row's values, and what wrote the row must be part of the state file.
  package func check(_ state: RowState, _ table: TableDefinition) throws {
    let columns = table.keyCount..<table.columns.count
    let used = [
      Array(state.overrides.keys), Array(state.contributions.keys), Array(state.hiddenReferences.keys),
    ].joined()
    guard used.allSatisfy(columns.contains), (state.hiddenCells?.count ?? 0) <= columns.count else {
      throw ByteReader.malformed("a row state with columns that its table does not have")
    }
    guard state.hiddenReferences.keys.allSatisfy({ table.columns[$0].reference != nil }) else {
      throw ByteReader.malformed("a hidden reference in a column that refers to nothing")
    }
    for (place, value) in (state.hiddenCells ?? []).enumerated() where value != .null {
      guard table.columns[table.keyCount + place].merge == .counter else { continue }
      guard case .integer = value else { throw ByteReader.malformed("a hidden cell that counts and is no integer") }
    }
    let stamps: [CellStamp] = Array(state.overrides.values) + Array(state.deletes) + [state.base].compactMap { $0 }
    let contributions = state.contributions.values.joined()
    let dots: [Dot] = stamps.map(\.dot) + contributions.map(\.dot)
    guard stamps.allSatisfy({ $0.hlc < HLC.limit }), dots.allSatisfy(vector.covers),
      [state.inserts, state.updates, state.removed].allSatisfy(vector.covers)
    else {
      throw ByteReader.malformed("a row state with writes that are not in the state file")
    }
  }

  /// What a row waits for. The target's table has this number here; nil when there is none of that name.
  package func target(kind: UInt8, table: Int?, rest: ArraySlice<UInt8>) throws -> Limbo.Reason {
    guard let target = try Limbo.Reason(kind: kind, table: table ?? 0, rest: rest) else {
      throw ByteReader.malformed("what a row waits for")
    }
    return target
  }
}
