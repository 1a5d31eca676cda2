import Godwit

/// A cache that C has a handle of. Two handles of one cache are two of these.
final class OpenCache: Handled {
  static let title = "cache"

  let owner: OpenReplica
  private let cache: Cache

  init(_ cache: Cache, of owner: OpenReplica) {
    self.cache = cache
    self.owner = owner
  }

  /// Runs work on the cache while its caller waits, or interrupts it.
  func running<Output: Sendable>(_ body: @escaping @Sendable (Cache) async throws -> Output) throws -> Output {
    let cache = cache
    return try owner.running { try await body(cache) }
  }
}
