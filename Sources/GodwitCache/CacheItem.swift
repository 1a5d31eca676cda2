import Foundation
import GodwitBase

/// A value on its way into a cache.
struct CacheItem: Sendable {
  static let keyByteLimit = 1_024
  static let tagLimit = 64
  static let valueByteLimit = 256 << 20

  let key: String
  let value: Data
  let lifetime: Cache.Lifetime
  let tags: [String]

  init(key: String, value: Data, lifetime: Cache.Lifetime, tags: [String]) {
    self.key = CacheTable.written(key)
    self.value = value
    self.lifetime = lifetime
    self.tags = tags.map(CacheTable.written)
  }

  /// Throws `invalidArgument` for a key or tags that no entry can have, `limitExceeded` for a value that is too large.
  func check(_ bound: Cache.Bound) throws {
    try Self.check(key, tags: tags)
    guard value.count <= Self.valueByteLimit, key.utf8.count + value.count <= bound.bytes ?? .max else {
      throw GodwitError(
        .limitExceeded, "the value is larger than the cache takes", hint: "raise its bound, or leave it out")
    }
  }

  /// Throws `invalidArgument` for a key or tags that no entry can have.
  static func check(_ key: String, tags: [String]) throws {
    guard isKey(key) else {
      throw GodwitError(
        .invalidArgument, "a key of a cache is \(key.isEmpty ? "empty" : "longer than \(keyByteLimit) bytes")")
    }
    guard tags.allSatisfy(isTag) else {
      throw GodwitError(
        .invalidArgument, "a tag of a cache is empty, longer than \(keyByteLimit) bytes, or holds a NUL character")
    }
    guard tags.count <= tagLimit else {
      throw GodwitError(.invalidArgument, "an entry of a cache has more than \(tagLimit) tags")
    }
  }

  static func isKey(_ key: String) -> Bool { (1...keyByteLimit).contains(CacheTable.written(key).utf8.count) }

  static func isTag(_ tag: String) -> Bool { isKey(tag) && !tag.utf8.contains(0) }
}
