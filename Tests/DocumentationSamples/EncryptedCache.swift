import Foundation
import Godwit

enum EncryptedCacheSamples {
  static func run() async throws {
    let replica = try await Replica.open(at: "agent")
    @Sendable func render(_ name: String) async throws -> Data { Data(name.utf8) }

    // begin sample
    let thumbnails = try replica.cache("thumbnails", bound: .bytes(64 << 20))
    let image = try await thumbnails.data(for: "logo", lifetime: .sliding(.seconds(3_600)), tags: ["brand"]) {
      try await render("logo")  // once for all who ask, in every process
    }
    let again = try await thumbnails.data(for: "logo")
    try await thumbnails.invalidate(tag: "brand")
    // end sample
    try expect(again == image, try await thumbnails.data(for: "logo") == nil)

    // begin sample
    struct Weather: Codable, Sendable {
      var degrees: Double
    }
    let weather = try replica.cache("weather", bound: .entries(1_000))
    try await weather.set("Bonn", value: Weather(degrees: 21.5), lifetime: .fixed(.seconds(600)))
    let bonn = try await weather.value(for: "Bonn", as: Weather.self)
    let statistics = try await weather.statistics()  // hits, misses, sets, evictions, entries, bytes
    // end sample
    try expect(bonn?.degrees == 21.5, statistics.hits == 1)

    // begin sample
    let quick = try replica.cache("thumbnails").inMemory(bytes: 4 << 20)
    let logo = try await quick.data(for: "logo") { try await render("logo") }
    // end sample
    try expect(logo == image)
    await replica.close()

    // begin sample
    let pages = try Cache.open(named: "pages", in: "cache", key: .file("keys/cache.key"), bound: .entries(500))
    try await pages.set("home", Data("<html>".utf8))
    await pages.close()
    // end sample
    let reopened = try Cache.open(named: "pages", in: "cache", key: .file("keys/cache.key"))
    try expect(try await reopened.data(for: "home") == Data("<html>".utf8))
    await reopened.close()
  }
}
