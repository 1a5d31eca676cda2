import Foundation
import Godwit
import GodwitCache
import Testing

/// Keys and tags.
extension CacheTests {
  @Test("keys and tags that no entry can have are refused before anything is computed, and have nothing to take away")
  func impossibleNames() async throws {
    let cache = try replica.cache("c")
    let (long, longest) = (String(repeating: "é", count: 513), String(repeating: "é", count: 512))
    let many = (0..<65).map { "tag \($0)" }
    for (key, tags) in [("", []), (long, []), ("k", [""]), ("k", [long]), ("k", ["a\0b"]), ("k", many)] {
      #expect(await code { try await cache.set(key, bytes(1), tags: tags) } == .invalidArgument)
      let computations = Computations()
      let compute: @Sendable () async throws -> Data = {
        computations.add()
        return Data()
      }
      #expect(await code { _ = try await cache.data(for: key, tags: tags, or: compute) } == .invalidArgument)
      let quick = cache.inMemory(bytes: 1_000)
      #expect(await code { _ = try await quick.data(for: key, tags: tags, or: compute) } == .invalidArgument)
      #expect(computations.value == 0)
    }
    try await cache.set(longest, bytes(1), tags: [longest] + many.dropFirst(2))
    for name in ["", long] {
      #expect(try await cache.data(for: name) == nil)
      try await cache.invalidate(name)
      try await cache.invalidate(tag: name)
    }
    #expect(try await cache.has(longest))
    try await cache.invalidate(tag: longest)
    #expect(try await cache.has(longest) == false)
  }
}
