import GodwitBase
import GodwitReplication
import GodwitStorage

/// Finds transactions in the change log, the newest first.
struct LogSearch {
  let log: ChangeLog
  /// In lower case.
  var table: String?
  var replica: ReplicaID?
  var since: Int64?

  /// How many entries are read at a time on the way back; an origin's entries are read forward.
  private static let stride: UInt64 = 256

  func newest(_ limit: Int) throws -> [LogEntry] {
    var found: [(record: TransactionRecord, entry: LogEntry)] = []
    for origin in log.origins.vector.origins where replica == nil || origin.replica == replica {
      found += try newest(limit, of: origin)
    }
    found.sort { ($1.record.hlc, $1.record.dot.origin) < ($0.record.hlc, $0.record.dot.origin) }
    return found.prefix(limit).map(\.entry)
  }

  private func newest(_ limit: Int, of origin: Origin) throws -> [(record: TransactionRecord, entry: LogEntry)] {
    var found: [(record: TransactionRecord, entry: LogEntry)] = []
    var last = try log.origins.head(of: origin).sequence.rawValue
    while last > 0, found.count < limit {
      let stride = min(last, max(1, min(Self.stride, UInt64(limit - found.count))))
      var run: [(record: TransactionRecord, entry: LogEntry)] = []
      var isEmpty = true
      let (after, through) = (SequenceNumber(rawValue: last - stride), SequenceNumber(rawValue: last))
      try log.forEach(of: origin, after: after, through: through) { record, _ in
        isEmpty = false
        guard since.map({ record.hlc.milliseconds >= $0 }) ?? true else { return }
        let entry = try LogEntry(record)
        guard let table else { return run.append((record, entry)) }
        if entry.changes.contains(where: { $0.table.lowercased() == table }) { run.append((record, entry)) }
      }
      found += run.reversed()
      // What comes before has been forgotten.
      if isEmpty { break }
      last -= stride
    }
    return found
  }
}
