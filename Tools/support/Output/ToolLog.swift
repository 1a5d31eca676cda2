import Logging

/// What the library logs, as a tool prints it: warnings and errors as `NAME: warning: …` on the standard error, nothing
/// else, for commands say themselves what they did.
struct ToolLog: LogHandler {
  let program: String
  var logLevel: Logger.Level = .warning
  var metadata: Logger.Metadata = [:]

  /// Lets every logger of this process write so, or not at all. Once.
  static func install(program: String, isQuiet: Bool) {
    LoggingSystem.bootstrap { _ in
      if isQuiet { SwiftLogNoOpLogHandler() } else { ToolLog(program: program) }
    }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let kind = event.level == .warning ? "warning" : "error"
    try? StandardStream.error.write("\(program): \(kind): \(Format.printable("\(event.message)"))\n")
  }
}
