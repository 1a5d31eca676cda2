import Foundation

/// Reads a cache inside the closure it is handed to.
public final class CacheReader {
  private let table: CacheTable
  private let now: Int64
  private(set) var reads: (hits: [String], misses: Int) = ([], 0)

  init(_ table: CacheTable, now: Int64) {
    self.table = table
    self.now = now
  }

  /// The bytes under a key, or nil.
  public func data(for key: String) throws -> Data? {
    guard let entry = try table.entry(key, now: now) else {
      reads.misses += 1
      return nil
    }
    reads.hits.append(key)
    return entry.value
  }
}
