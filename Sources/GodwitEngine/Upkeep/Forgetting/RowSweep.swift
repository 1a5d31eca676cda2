import GodwitBase
import GodwitCore
import GodwitStorage

/// Goes through the row states in the order of their keys, as far as a step may, and drops what every member is known
/// to hold. Where it has come stands in ``Meta``, so that the next step continues from there.
struct RowSweep {
  private let connection: Connection
  private let frontier: VersionVector
  private let tables: MergeTables
  private let states: RowStates
  private let memory: RowMemory

  init(_ writer: ReplicaWriter, _ frontier: Frontier) throws {
    connection = writer.connection
    self.frontier = frontier.vector
    tables = MergeTables(connection, catalog: writer.catalog, functions: writer.mergeFunctions)
    states = RowStates(connection: connection, origins: writer.log.origins)
    memory = RowMemory(writer, frontier)
  }

  /// Returns how many rows need no state any more, and whether the pass is over.
  func run(_ limit: Int) throws -> (rows: Int, isDone: Bool) {
    let meta = try Meta.all(on: connection)
    var cursor: [UInt8] = []
    if case .blob(let bytes)? = meta[.forgettingCursor] {
      cursor = bytes
    } else {
      // Nothing more to drop than at the last pass, which left only what must stay.
      guard try VersionVector(stored: meta[.forgotten]) != frontier else { return (0, true) }
      try Meta.set(.forgetting, frontier.stored, on: connection)
    }
    let batch = try RowStates.stored(after: cursor, limit: limit, on: connection)
    var count = 0
    for (bytes, stored) in batch {
      let key = try RowKey(bytes: bytes)
      guard tables.catalog.tables.contains(where: { $0.id == key.table }) else { continue }
      if try forget(key, stored) { count += 1 }
    }
    guard batch.count < limit else {
      try Meta.set(.forgettingCursor, .blob(batch.last?.key ?? []), on: connection)
      return (count, false)
    }
    let begun = try VersionVector(stored: Meta.all(on: connection)[.forgetting])
    try Meta.set(.forgotten, begun.stored, on: connection)
    try Meta.remove(.forgettingCursor, on: connection)
    return (count, begun == frontier)
  }

  /// Whether the row needs no state any more.
  private func forget(_ key: RowKey, _ stored: [UInt8]) throws -> Bool {
    let table = try tables[key.table]
    var reader = ByteReader(stored)
    var state = try RowState(reading: &reader, origins: states.origins)
    let before = state
    // Nothing else would name a row that is gone.
    if let latest = state.latest, memory.isAhead(latest), !state.isAlive(table.definition.deletes) { return false }
    let kept = memory.kept(state, in: table.definition)
    guard state.forget(frontier, keeping: kept, table.definition.deletes) else {
      try states.remove(key)
      return true
    }
    if state != before { try states.save(state, for: key) }
    return false
  }
}
