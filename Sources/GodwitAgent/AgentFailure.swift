import Foundation
import Godwit
import GodwitReports

/// What is wrong with a replica or a remote, and since when.
package struct AgentFailure: Sendable {
  /// An error's code; `other` for one that is not Godwit's.
  package let code: String
  package let message: String
  /// What somebody has to do.
  package let hint: String?
  package let since: Date
  /// What was thrown.
  package let error: any Error

  init(_ error: any Error, since: Date) {
    let known = error as? GodwitError
    code = known?.code.rawValue ?? "other"
    message = known?.message ?? "\(error)"
    hint = known?.hint
    self.since = since
    self.error = error
  }

  /// Specs/cli.md, "agent status".
  package var json: JSONValue {
    [
      "code": .string(code), "message": .string(message), "hint": hint.map { .string($0) } ?? .null,
      "since": .string(Format.time(since)),
    ]
  }

  /// `unreachable since 2026-01-31T09:30:00.250Z: the host does not answer (is the network there?)`.
  package var text: String {
    Format.printable("\(code) since \(Format.time(since)): \(message)\(hint.map { " (\($0))" } ?? "")")
  }
}
