import Foundation
import Godwit
import GodwitReports

/// The lines that an agent writes, one for each event (Specs/agent.md, "Journal").
package struct Journal: Sendable {
  /// As in syslog(3), which systemd's journal takes over.
  package enum Priority: Int, Sendable {
    case error = 3
    case warning = 4
    case info = 6

    fileprivate var name: String {
      switch self {
      case .error: "error"
      case .warning: "warning"
      case .info: "info"
      }
    }
  }

  /// What happened.
  package enum Event: String, Sendable {
    case started, ready, reloading, stopping, stopped, opened, failed, synced, recovered
  }

  package enum Form: Sendable {
    /// Words, with the time in front.
    case text
    /// Words, with the priority in front as sd-daemon(3) has it.
    case systemd
    /// An object, with time and priority.
    case json
  }

  private let form: Form
  private let clock: @Sendable () -> Date
  private let write: @Sendable (String) -> Void

  /// - Parameter write: Takes a line without its end.
  package init(
    _ form: Form, clock: @escaping @Sendable () -> Date = { Date() }, write: @escaping @Sendable (String) -> Void
  ) {
    self.form = form
    self.clock = clock
    self.write = write
  }

  /// Writes a line.
  ///
  /// - Parameters:
  ///   - fields: What it is about, such as the replica's folder.
  ///   - hint: What somebody has to do.
  package func note(
    _ priority: Priority, _ event: Event, _ message: String, hint: String? = nil, _ fields: [(String, String)] = []
  ) {
    var all = [("event", event.rawValue)] + fields + [("message", message)]
    if let hint { all.append(("hint", hint)) }
    let time = Format.time(clock())
    switch form {
    case .text: write("\(time) \(priority.name) \(Self.words(all))")
    case .systemd: write("<\(priority.rawValue)>\(Self.words(all))")
    case .json:
      let object = [("time", time), ("priority", priority.name)] + all
      write(JSONValue.object(object.map { ($0, .string($1)) }).text)
    }
  }

  /// `key=value` words; a value with other characters than those of a path or name is a JSON string.
  private static func words(_ fields: [(String, String)]) -> String {
    fields.map { key, value in
      let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
      return "\(key)=\(isPlain ? value : JSONValue.string(value).text)"
    }.joined(separator: " ")
  }
}
