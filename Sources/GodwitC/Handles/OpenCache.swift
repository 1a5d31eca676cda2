import Godwit

/// A cache that C has a handle of. Two handles of one cache are two of these.
final class OpenCache: Handled {
  static let title = "cache"

  let cache: Cache
  let replica: Replica

  init(_ cache: Cache, of replica: Replica) {
    self.cache = cache
    self.replica = replica
  }
}
