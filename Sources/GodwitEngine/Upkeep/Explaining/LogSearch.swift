import GodwitBase
import GodwitCore
import GodwitStorage

/// Finds transactions in the change log, the newest first.
package struct LogSearch {
  let log: ChangeLog
  /// In lower case.
  var table: String?
  var replica: ReplicaID?
  /// Milliseconds since 1970 UTC.
  var since: Int64?

  package init(log: ChangeLog, table: String? = nil, replica: ReplicaID? = nil, since: Int64? = nil) {
    self.log = log
    self.table = table
    self.replica = replica
    self.since = since
  }

  private struct Found {
    let hlc: HLC
    let origin: Origin
    let entry: LogEntry
  }

  /// How many entries are read at a time on the way back; an origin's entries are read forward.
  private static let stride: UInt64 = 256

  package func newest(_ limit: Int) throws -> [LogEntry] {
    var found: [Found] = []
    for origin in log.origins.vector.origins where replica == nil || origin.replica == replica {
      found += try newest(limit, of: origin)
    }
    found.sort { ($1.hlc, $1.origin) < ($0.hlc, $0.origin) }
    return found.prefix(limit).map(\.entry)
  }

  /// An origin's later transactions have the greater numbers, so that the last ones are enough.
  private func newest(_ limit: Int, of origin: Origin) throws -> [Found] {
    var found: [Found] = []
    var last = try log.origins.head(of: origin).sequence.rawValue
    while last > 0, found.count < limit {
      let wanted = table == nil && since == nil ? min(Self.stride, UInt64(limit - found.count)) : Self.stride
      let first = last - min(last, wanted)
      var run: [Found] = []
      var isEmpty = true
      let (after, through) = (SequenceNumber(rawValue: first), SequenceNumber(rawValue: last))
      try log.forEach(of: origin, after: after, through: through) { record, _ in
        isEmpty = false
        guard since.map({ record.hlc.milliseconds >= $0 }) ?? true else { return }
        let entry = try LogEntry(record)
        guard isWanted(entry) else { return }
        run.append(Found(hlc: record.hlc, origin: origin, entry: entry))
      }
      found += run.reversed()
      // What comes before has been forgotten.
      if isEmpty { break }
      last = first
    }
    return found
  }

  private func isWanted(_ entry: LogEntry) -> Bool {
    guard let table else { return true }
    return entry.changes.contains { $0.table.lowercased() == table }
  }
}
