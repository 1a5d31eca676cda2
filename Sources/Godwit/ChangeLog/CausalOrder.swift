import GodwitBase
import GodwitReplication

/// Steps through ranges of several origins' transactions, every one after all it had seen.
struct CausalOrder {
  struct Entry {
    let record: TransactionRecord
    /// What its author held, the transaction itself included.
    let context: VersionVector
    let images: [UInt8]
  }

  private struct Lane {
    let cursor: LogCursor
    var others: VersionVector
    var next: TransactionRecord
    var images: [UInt8]

    var context: VersionVector {
      var context = others
      context[next.dot.origin] = next.dot.sequence
      return context
    }
  }

  private var lanes: [Lane] = []
  /// What came before the ranges and what has been stepped through.
  private(set) var passed: VersionVector

  /// The transactions of each origin after `start` through `end`.
  init(_ log: ChangeLog, after start: VersionVector, through end: VersionVector) throws {
    passed = start
    for origin in end.origins where start[origin] < end[origin] {
      let cursor = try log.cursor(of: origin, after: start[origin], through: end[origin])
      guard let (record, images) = try cursor.next() else { continue }
      let before = try log.othersContext(of: Dot(origin, start[origin]))
      lanes.append(Lane(cursor: cursor, others: record.context ?? before, next: record, images: images))
    }
  }

  /// The next transaction, or nil at the end. Of several that may come next, the one with the least timestamp.
  mutating func next() throws -> Entry? {
    guard !lanes.isEmpty else { return nil }
    let ready = lanes.indices.filter { isReady(lanes[$0]) }
    guard let index = ready.min(by: { precedes(lanes[$0].next, lanes[$1].next) }) else {
      throw GodwitError(.damagedLog, "the change log holds transactions without what they had seen", hint: "run: godwit verify")
    }
    let entry = Entry(record: lanes[index].next, context: lanes[index].context, images: lanes[index].images)
    passed[entry.record.dot.origin] = entry.record.dot.sequence
    if let (record, images) = try lanes[index].cursor.next() {
      if let context = record.context { lanes[index].others = context }
      lanes[index].next = record
      lanes[index].images = images
    } else {
      lanes.remove(at: index)
    }
    return entry
  }

  private func isReady(_ lane: Lane) -> Bool { lanes.count == 1 || passed.covers(lane.others) }

  private func precedes(_ left: TransactionRecord, _ right: TransactionRecord) -> Bool {
    (left.hlc, left.dot.origin) < (right.hlc, right.dot.origin)
  }
}
