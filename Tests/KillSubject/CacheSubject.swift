import Foundation
import Godwit

/// A process with a cache: one that writes until it is killed, or one that computes a value together with others.
enum CacheSubject {
  /// Every value is its key's number, a thousand times, so that half a value shows.
  static func write(_ replica: Replica, step: () -> Void) async throws {
    let cache = try replica.cache("killed", bound: .entries(50))
    var number = 0
    while true {
      number += 1
      try await cache.set("k\(number)", value: Array(repeating: number, count: 1_000), tags: ["t\(number % 3)"])
      _ = try await cache.data(for: "k\(number / 2)")
      if number.isMultiple(of: 20) { try await cache.invalidate(tag: "t1") }
      step()
    }
  }

  /// Adds a line to a file for each computation that it makes itself.
  static func compute(_ replica: Replica, log: String) async throws {
    let cache = try replica.cache("shared")
    for number in 0..<20 {
      let value = try await cache.value(for: "k\(number)") {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(number)\n".utf8))
        try file.close()
        try await Task.sleep(for: .milliseconds(5))
        return number
      }
      guard value == number else { exit(1) }
    }
  }
}
