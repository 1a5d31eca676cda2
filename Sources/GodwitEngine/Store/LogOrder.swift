import GodwitBase
import GodwitCore

/// Steps through ranges of several origins' transactions, every one after all that its author held: that is in the
/// ranges before it, or ahead of them all.
struct LogOrder {
  struct Range {
    let origin: Origin
    let after: SequenceNumber
    let through: SequenceNumber
    /// What the origin held of others when it wrote the transaction before.
    let contextBefore: VersionVector
  }

  struct Entry {
    let record: TransactionRecord
    /// What its author held, the transaction itself included.
    let context: VersionVector
    let deletedCells: [UInt8]
  }

  private struct Lane {
    let cursor: LogCursor
    var others: VersionVector
    var next: TransactionRecord
    var deletedCells: [UInt8]
  }

  private var order: CausalOrder
  private var lanes: [Origin: Lane] = [:]

  /// `covered` is what is ahead of the ranges.
  init(_ log: ChangeLog, _ ranges: [Range], covered: VersionVector) throws {
    order = CausalOrder(covered: covered)
    for range in ranges {
      let cursor = try log.cursor(of: range.origin, after: range.after, through: range.through)
      try advance(range.origin, cursor, others: range.contextBefore, isFirst: true)
    }
  }

  /// The next transaction, or nil at the end.
  mutating func next() throws -> Entry? {
    guard let origin = order.next(), let lane = lanes.removeValue(forKey: origin) else {
      guard lanes.isEmpty else {
        throw GodwitError(
          .damagedLog, "the log lacks what its transactions name as their causes", hint: "run: godwit verify")
      }
      return nil
    }
    try advance(origin, lane.cursor, others: lane.others, isFirst: false)
    var context = lane.others
    context[origin] = lane.next.dot.sequence
    return Entry(record: lane.next, context: context, deletedCells: lane.deletedCells)
  }

  private mutating func advance(
    _ origin: Origin, _ cursor: LogCursor, others: VersionVector, isFirst: Bool
  ) throws {
    guard let (record, deletedCells) = try cursor.next() else { return }
    lanes[origin] = Lane(cursor: cursor, others: record.context ?? others, next: record, deletedCells: deletedCells)
    order.add(record.dot, hlc: record.hlc, context: record.context ?? (isFirst ? others : nil))
  }
}
