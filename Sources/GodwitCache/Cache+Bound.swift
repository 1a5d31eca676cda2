extension Cache {
  /// How much a cache may hold: beyond it the least recently used entries go.
  public struct Bound: Hashable, Sendable {
    /// Bytes of keys and values together, or nil for any number.
    public var bytes: Int?
    /// Entries, or nil for any number.
    public var entries: Int?

    /// A bound of bytes, of entries, or of both.
    public init(bytes: Int? = nil, entries: Int? = nil) {
      self.bytes = bytes
      self.entries = entries
    }

    /// At most that many bytes of keys and values.
    public static func bytes(_ count: Int) -> Cache.Bound { Cache.Bound(bytes: count) }
    /// At most that many entries.
    public static func entries(_ count: Int) -> Cache.Bound { Cache.Bound(entries: count) }
    /// None: only time takes entries away.
    public static let none = Cache.Bound()

    func isExceeded(_ total: CacheTable.Total) -> Bool {
      total.entries > Int64(entries ?? .max) || total.bytes > Int64(bytes ?? .max)
    }
  }
}
