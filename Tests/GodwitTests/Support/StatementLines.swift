import Foundation
import Logging
import Synchronization

/// Keeps what a replica logs.
final class StatementLines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }
  var selects: Int { all.count { $0.hasPrefix("debug: SELECT") } }
  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

  func clear() { lines.withLock { $0.removeAll() } }

  private struct Handler: LogHandler {
    let lines: StatementLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.level): \(event.message)") } }
  }
}
