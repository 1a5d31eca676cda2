import Foundation
import GodwitCache

/// A program that keeps values for a while, with neither a replica nor anybody to sync with.
@main
struct Thumbnails {
  static func main() async throws {
    let key = Cache.Key.file("thumbnails.key")
    let cache = try Cache.open(named: "thumbnails", in: "cache", key: key, bound: .bytes(1 << 20))
    let image = try await cache.data(for: "logo", lifetime: .fixed(.seconds(60))) { Data("logo".utf8) }
    try expect(try await cache.data(for: "logo") == image)
    try await cache.invalidate("logo")
    try expect(try await cache.data(for: "logo") == nil)
    try await cache.set("size", value: Size(width: 64, height: 48), tags: ["brand"])
    try expect(try await cache.value(for: "size", as: Size.self) == Size(width: 64, height: 48))
    try await cache.invalidate(tag: "brand")
    try expect(try await cache.statistics().entries == 0)
    await cache.close()
    do {
      _ = try Cache.open(named: "No name", in: "cache", key: key)
      try expect(false)
    } catch let error as GodwitError where error.code == .invalidArgument {
      print(error.message)
    }
  }

  private struct Size: Codable, Equatable {
    var width: Int
    var height: Int
  }

  private static func expect(_ condition: Bool) throws {
    guard condition else { throw CocoaError(.featureUnsupported) }
  }
}
