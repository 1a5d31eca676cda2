import GodwitBase
import GodwitCore
import GodwitSyncFile

@testable import Godwit
@testable import GodwitEngine

extension FuzzTarget {
  static let changeTargets = [changeSet, rowState, logRecord]

  /// A transaction's operations, as their origin wrote them and all others relay them.
  static let changeSet = FuzzTarget(name: "change-set") {
    try checkChanges($0)
  } starts: {
    ["kinds": SyncFileStarts.changes]
  }

  /// What is remembered of a row.
  static let rowState = FuzzTarget(name: "row-state") { bytes in
    try checkRowState(bytes, StateNumbering(FuzzKeys.origins))
  } starts: {
    try ChangeStarts.rowStates()
  }

  /// A transaction as the log keeps it, perhaps compressed: four bytes that state the size, then what is kept.
  static let logRecord = FuzzTarget(name: "log-record") { bytes in
    var choices = FuzzChoices(bytes)
    let size = choices.number(4)
    guard size <= 1 << 20 else { return }
    let changes = try LogCoder().unpack(Array(choices.rest), size: size)
    try require(size == 0 || changes.count == size, "unpacked to another size")
    try checkChanges(changes)
  } starts: {
    let changes = SyncFileStarts.changes
    let size = [UInt8(changes.count >> 8), UInt8(changes.count & 0xFF)]
    return ["plain": [0, 0, 0, 0] + changes, "packed": [0, 0] + size + (try Zstd(level: 3).compress(changes))]
  }
}

/// A change set has one form, and all that asks for its parts agrees on them.
func checkChanges(_ bytes: [UInt8]) throws {
  let changes = try ChangeSet(bytes[...])
  var writer = ByteWriter()
  ChangeSet.writeHeader(tables: changes.tables, operationCount: changes.operationCount, to: &writer)
  let start = bytes.withUnsafeBytes { ChangeSet.operationsStart(in: $0) }
  try require(start == writer.count, "the operations begin elsewhere")
  try changes.forEach { operation in
    let table = changes.tables[operation.table]
    writer.varint(Operation.head(table: operation.table, kind: operation.kind))
    writer.raw(operation.key)
    writer.raw(operation.payload)
    operation.row.withUnsafeBytes { _ = EncodedRow.lacks([true, true], $0) }
    guard let cells = try unlessRefused({ try operation.cells(in: table) }) else { return }
    try require(cells.allSatisfy { table.keyCount..<table.columnCount ~= $0.column }, "a cell of no column")
  }
  try require(writer.bytes == bytes, "a change set that is written again differs")
}

/// A row of encoded values is refused, or is one that can be read value by value.
func checkRow(_ row: UnsafeRawBufferPointer) throws {
  _ = EncodedRow.lacks([true, false, true], row)
  var reader = ByteReader(Array(row))
  while !reader.isAtEnd { _ = try reader.encodedValue() }
  try EncodedRow.check(row)
  reader = ByteReader(Array(row))
  while !reader.isAtEnd {
    guard try unlessRefused({ try reader.value() }) != nil else {
      throw FuzzFault(description: "a row that was accepted cannot be read")
    }
  }
}

/// A state need not come in its one form, but has one.
func checkRowState(_ bytes: [UInt8], _ numbering: StateNumbering) throws {
  func written(_ state: RowState) throws -> [UInt8] {
    var writer = ByteWriter()
    try state.write(to: &writer, origins: numbering)
    return writer.bytes
  }
  func read(_ bytes: [UInt8]) throws -> RowState {
    var reader = ByteReader(bytes)
    return try RowState(reading: &reader, origins: numbering)
  }
  let state = try read(bytes)
  for policy in [DeletePolicy.editWins, .deleteWins] { _ = state.isAlive(policy) }
  _ = state.latest
  let form = try written(state)
  guard let again = try unlessRefused({ try read(form) }) else {
    throw FuzzFault(description: "a state that was written is refused")
  }
  let second = try written(again)
  try require(second == form, "a state has two forms: \(Hexadecimal.encode(form)) and \(Hexadecimal.encode(second))")
}

/// Row states to start from.
enum ChangeStarts {
  static func rowStates() throws -> [String: [UInt8]] {
    func stamp(_ origin: Int, _ sequence: UInt64) -> CellStamp {
      CellStamp(
        hlc: HLC(milliseconds: 1_700_000_000_000 + Int64(sequence)),
        dot: Dot(FuzzKeys.origins[origin], SequenceNumber(rawValue: sequence)))
    }
    var all = RowState()
    all.base = stamp(0, 1)
    all.overrides = [1: stamp(1, 2), 2: stamp(2, 3)]
    all.inserts = VersionVector([FuzzKeys.origins[0]: SequenceNumber(rawValue: 1)])
    all.updates = VersionVector([FuzzKeys.origins[1]: SequenceNumber(rawValue: 4)])
    all.deletes = [stamp(1, 3)]
    all.removed = all.inserts
    all.hiddenCells = [1, "text", .null]
    all.hiddenReferences = [2: .blob([1])]
    all.contributions = [
      3: [Contribution(dot: stamp(0, 5).dot, value: 7), Contribution(dot: stamp(0, 6).dot, value: "+\"a\"")]
    ]
    return try ["all": all, "settled": .stable, "empty": RowState()].mapValues { state in
      var writer = ByteWriter()
      try state.write(to: &writer, origins: StateNumbering(FuzzKeys.origins))
      return writer.bytes
    }
  }
}
