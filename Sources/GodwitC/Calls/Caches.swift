import CGodwit
import Foundation
import Godwit

/// As `godwit.h` says.
@_cdecl("godwit_cache_open")
public func openCache(
  _ handle: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ bytes: Int, _ entries: Int,
  _ cache: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  call {
    let place = try Arguments.place(cache, "cache")
    let owner = try HandleTable.find(handle, OpenReplica.self)
    let bound = Cache.Bound(bytes: bytes == 0 ? nil : bytes, entries: entries == 0 ? nil : entries)
    let opened = try owner.replica.cache(try Arguments.text(name, "cache's name"), bound: bound)
    place.pointee = HandleTable.add(OpenCache(opened, of: owner))
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_cache_set")
public func setInCache(
  _ handle: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeRawPointer?, _ length: Int,
  _ lifetime: Int64
) -> Int32 {
  call {
    let cache = try HandleTable.find(handle, OpenCache.self)
    let (key, data) = (try Arguments.text(key, "key"), Data(try Arguments.bytes(bytes, length)))
    guard lifetime >= 0 else { throw CallFailure.misuse("the lifetime is negative") }
    let stay: Cache.Lifetime = lifetime == 0 ? .unlimited : .fixed(.milliseconds(lifetime))
    try cache.running { try await $0.set(key, data, lifetime: stay) }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_cache_get")
public func getFromCache(
  _ handle: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ length: UnsafeMutablePointer<Int>?
) -> Int32 {
  call {
    length?.pointee = 0
    let place = try Arguments.place(bytes, "bytes")
    let cache = try HandleTable.find(handle, OpenCache.self)
    let key = try Arguments.text(key, "key")
    guard let data = try cache.running({ try await $0.data(for: key) }) else { return }
    // One byte more, so that an empty value has a place too.
    guard let copy = malloc(data.count + 1) else { throw GodwitError(.limitExceeded, "memory is full") }
    data.withUnsafeBytes { source in
      if let start = source.baseAddress { memcpy(copy, start, source.count) }
    }
    place.pointee = copy
    length?.pointee = data.count
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_cache_remove")
public func removeFromCache(_ handle: OpaquePointer?, _ key: UnsafePointer<CChar>?) -> Int32 {
  call {
    let cache = try HandleTable.find(handle, OpenCache.self)
    let key = try Arguments.text(key, "key")
    try cache.running { try await $0.invalidate(key) }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_cache_clear")
public func clearCache(_ handle: OpaquePointer?) -> Int32 {
  call {
    let cache = try HandleTable.find(handle, OpenCache.self)
    try cache.running { try await $0.removeAll() }
  }
}

/// As `godwit.h` says.
@_cdecl("godwit_cache_close")
public func closeCache(_ handle: OpaquePointer?) -> Int32 {
  guard let handle else { return GODWIT_OK }
  return call {
    _ = try HandleTable.find(handle, OpenCache.self)
    HandleTable.remove(handle)
  }
}
