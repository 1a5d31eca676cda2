import GodwitBase

/// Sees that a transaction has one operation a row (Specs/change-log.md, "Change set"): several would let few bytes ask
/// for much work, and mean one thing to who merges them and another to who applies them one by one.
package struct DistinctRows {
  /// By table of the dictionary the greatest key so far, as long as they came rising: most do.
  private var last: [Int: ArraySlice<UInt8>] = [:]
  private var rising: [Int: [ArraySlice<UInt8>]] = [:]
  private var seen: [Int: Set<ArraySlice<UInt8>>] = [:]

  package init() {}

  /// Throws `corruptFile` for a key that the transaction has named before.
  package mutating func insert(_ key: ArraySlice<UInt8>, table: Int) throws {
    if seen[table] == nil {
      guard let before = last[table], !before.lexicographicallyPrecedes(key) else {
        last[table] = key
        rising[table, default: []].append(key)
        return
      }
      seen[table] = Set(rising.removeValue(forKey: table) ?? [])
    }
    guard seen[table]?.insert(key).inserted != false else {
      throw ByteReader.malformed("a transaction with two operations on one row")
    }
  }
}
