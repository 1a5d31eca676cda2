import GodwitCache

extension Replica {
  /// A cache beside the replica, made when it is missing. It is never synced, and closes with the replica.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 characters of a–z, 0–9, `-` and `_`. A second call with one name gives the same cache, whose
  ///     bound is that of the first.
  ///   - bound: How much it may hold.
  /// - Throws: `invalidArgument` for another name or a bound that is not positive; `closed`.
  public func cache(_ name: String, bound: Cache.Bound = .none) throws -> Cache {
    try Cache.check(name: name, bound: bound)
    return try caches.cache(name) {
      Cache(
        name: name, bound: bound, folder: "\(folder.path)/cache", ownsFolder: true, wallClock: wallClock,
        logger: logger, key: databaseKeys.forCaches)
    }
  }
}
