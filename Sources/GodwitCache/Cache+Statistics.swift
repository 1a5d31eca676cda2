extension Cache {
  /// How a cache fares.
  public struct Statistics: Hashable, Sendable {
    /// Reads of this process that found a value.
    public internal(set) var hits = 0
    /// Reads of this process that found none.
    public internal(set) var misses = 0
    /// Values that this process has written.
    public internal(set) var sets = 0
    /// Entries that this process took away because there was no room.
    public internal(set) var evictions = 0
    /// Entries that the file holds, expired ones that have not gone yet among them.
    public internal(set) var entries = 0
    /// Bytes of their keys and values.
    public internal(set) var bytes = 0
  }
}
