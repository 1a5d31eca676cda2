import GodwitBase
import GodwitCache
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
