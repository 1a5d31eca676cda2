import Logging

extension Logger {
  /// Says nothing: in a world of copies and backups new incarnations are nothing to warn of.
  static let silent = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
}
