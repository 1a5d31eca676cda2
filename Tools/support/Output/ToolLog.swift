import Logging
import Synchronization

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
    guard !LibraryWarnings.isSilent.load(ordering: .relaxed) else { return }
    let kind = event.level == .warning ? "warning" : "error"
    let remote = event.metadata?["remote"].map { "\($0): " } ?? ""
    try? StandardStream.error.write("\(program): \(kind): \(Format.printable("\(remote)\(event.message)"))\n")
  }
}

/// What the library warns of, for a tool that says it in a way of its own.
public enum LibraryWarnings {
  fileprivate static let isSilent = Atomic(false)

  /// Leaves them out from now on.
  public static func silence() { isSilent.store(true, ordering: .relaxed) }
}
