import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import Synchronization

/// The caches of a replica that are open, one of each name.
final class CacheShelf: Sendable {
  private let caches = Mutex<[String: Cache]?>([:])

  func cache(_ name: String, _ make: () -> Cache) throws -> Cache {
    try caches.withLock { caches in
      guard caches != nil else { throw GodwitError(.closed, "the replica is closed") }
      if let known = caches?[name] { return known }
      let cache = make()
      caches?[name] = cache
      return cache
    }
  }

  /// The key has changed: what the open caches hold goes, and their next use begins anew. The others do when they are
  /// opened, for their key does not fit.
  func discardAll() {
    for cache in caches.withLock({ $0 ?? [:] }).values { cache.discard() }
  }

  func close() async {
    let open = caches.withLock { caches in
      defer { caches = nil }
      return caches ?? [:]
    }
    for cache in open.values { await cache.close() }
  }
}

extension Replica {
  private static let nameLimit = 64

  /// A cache beside the replica, made when it is missing. It is never synced, and closes with the replica.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 characters of a–z, 0–9, `-` and `_`. A second call with one name gives the same cache, whose bound
  ///     is that of the first.
  ///   - bound: How much it may hold.
  /// - Throws: `invalidArgument` for another name or a bound that is not positive; `closed`.
  public func cache(named name: String, bound: CacheBound = .none) throws -> Cache {
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    guard !name.isEmpty, name.count <= Self.nameLimit, name.allSatisfy(allowed.contains) else {
      throw GodwitError(
        .invalidArgument, "a cache is named with 1 to \(Self.nameLimit) of the characters a–z, 0–9, - and _")
    }
    guard bound.bytes ?? 1 > 0, bound.entries ?? 1 > 0 else {
      throw GodwitError(.invalidArgument, "the bound of a cache is not positive")
    }
    return try caches.cache(name) {
      Cache(
        name: name, bound: bound, folder: "\(folder.path)/cache", wallClock: wallClock, logger: logger,
        key: databaseKeys.forCaches)
    }
  }
}
