import GodwitBase
import GodwitCore

extension ChangeCapture {
  /// What the entries add to the sums of their tables, of rows that were each written once (Specs/state-hash.md).
  ///
  /// One pass over what has been encoded for the log and over the old values, at the commit: what a failed statement
  /// had written is gone from both by then.
  func sums(_ hashes: [TableHash]) -> [StateSum] {
    var sums = Array(repeating: StateSum.zero, count: hashes.count)
    let entries = entries
    withRaw { operations, old in
      for entry in entries {
        let hash = hashes[entry.table]
        var place = entry.operation
        _ = TableHash.varint(operations, &place)
        let key = hash.key(operations, &place)
        var oldPlace = entry.old
        switch entry.kind {
        case .insert: sums[entry.table] += hash.cells(key, operations, &place)
        case .delete: sums[entry.table] -= hash.cells(key, old, &oldPlace)
        case .update:
          for _ in 0..<TableHash.varint(operations, &place) {
            let column = Int(TableHash.varint(operations, &place))
            sums[entry.table] += hash.cell(column, key, operations, &place)
            sums[entry.table] -= hash.cell(column, key, old, &oldPlace)
          }
        }
      }
    }
    return sums
  }
}
