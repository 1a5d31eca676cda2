/// Waits for what another task or program brings about.
package enum Patience {
  /// What was waited for did not come in time.
  struct NotInTime: Error, CustomStringConvertible {
    var description: String { "it did not come to that in half a minute" }
  }

  /// Waits until something is so, looking every 50 ms.
  ///
  /// - Throws: `NotInTime` after half a minute, or what the look throws.
  package static func until(_ isSo: () async throws -> Bool) async throws {
    for _ in 0..<600 {
      if try await isSo() { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw NotInTime()
  }
}
