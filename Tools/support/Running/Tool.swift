import ArgumentParser
import Foundation
import Godwit

/// Runs a command line tool: keeps its memory out of core dumps and crash reports, parses its arguments, runs the
/// command, reports failures and ends with the exit code of Specs/cli.md.
public enum Tool {
  /// The whole of a tool's `main`, which is not `async`: what runs that opens descriptors of its own, and may take the
  /// number of a stream that is closed.
  public static func main<Root: AsyncParsableCommand>(
    _ root: Root.Type, arguments: [String] = Array(CommandLine.arguments.dropFirst())
  ) -> Never {
    StandardStream.fillClosed()
    // Dispatch would write to the system's log that this user may not raise a thread's priority.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    Task { await main(of: root, arguments) }
    dispatchMain()
  }

  private static func main<Root: AsyncParsableCommand>(of root: Root.Type, _ arguments: [String]) async -> Never {
    protectSecrets(root._commandName)
    // A reader that goes away ends the program silently, whatever the parent process set up.
    signal(SIGPIPE, SIG_DFL)
    let interruption = Interruption()
    if let unreadable {
      ErrorReport(
        status: ExitStatus.usage, message: "\(unreadable) is not UTF-8, as all text here is",
        hint: "rename it, or reach it by another path"
      ).write(program: root._commandName)
      exit(ExitStatus.usage)
    }
    let path = CommandPath(arguments, root: root)
    ToolLog.install(program: root._commandName, isQuiet: path.isForPrograms)
    let task = Task { await run(root, path) }
    interruption.onInterrupt { task.cancel() }
    let status = await task.value
    // Success stands even when the interruption came too late to stop it.
    guard interruption.finish() else { while true { sleep(1) } }
    if interruption.isInterrupted, status != ExitStatus.success { interruption.exitInterrupted() }
    exit(status)
  }

  /// What Swift would read as another text than it is: an argument, the folder here, or a variable that names a place.
  private static var unreadable: String? {
    func isText(_ bytes: UnsafePointer<CChar>) -> Bool { String(validatingCString: bytes) != nil }
    for number in 1..<Swift.max(1, Int(CommandLine.argc)) {
      if let argument = CommandLine.unsafeArgv[number], !isText(argument) { return "argument \(number)" }
    }
    if let folder = getcwd(nil, 0) {
      defer { free(folder) }
      guard isText(folder) else { return "the path of the folder here" }
    }
    var place = environ
    while let entry = place.pointee {
      let name = String(
        decoding: Array(UnsafeBufferPointer(start: entry, count: strlen(entry))).lazy.map(UInt8.init)
          .prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      if name == "HOME" || ["GODWIT_", "XDG_", "AWS_"].contains(where: name.hasPrefix), !isText(entry) {
        return "the variable \(name)"
      }
      place += 1
    }
    return nil
  }

  private static func protectSecrets(_ program: String) {
    SecretProtection.disableCrashReports()
    do {
      try SecretProtection.disableCoreDumps()
    } catch {
      // Where the system refuses, a core dump is its administrator's choice; the work continues.
      try? StandardStream.error.write("\(program): warning: \((error as? GodwitError)?.message ?? "\(error)")\n")
    }
  }

  private static func run<Root: AsyncParsableCommand>(_ root: Root.Type, _ path: CommandPath) async -> Int32 {
    do {
      if let unknown = path.unknown { return report(unknownSubcommand: unknown, path) }
      if let help = HelpRequest(path.arguments, of: root) {
        let lines = help.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        try await Console(isQuiet: path.isForPrograms, usesJSON: false).pages(lines)
        return ExitStatus.success
      }
      var command = try root.parseAsRoot(path.arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      return ExitStatus.success
    } catch is CancellationError {
      return ExitStatus.interrupted
    } catch let code as ExitCode {
      return code.rawValue
    } catch {
      return report(error, root, path)
    }
  }

  private static func report(
    _ error: any Error, _ root: (some ParsableCommand).Type, _ path: CommandPath
  ) -> Int32 {
    let program = root._commandName
    switch root.exitCode(for: error) {
    case .success:
      do {
        try StandardStream.output.write(root.fullMessage(for: error) + "\n")
        return ExitStatus.success
      } catch {
        let report = ErrorReport(error)
        report.write(program: program)
        return report.status
      }
    case .validationFailure:
      let command = path.names.joined(separator: " ")
      ErrorReport(
        status: ExitStatus.usage, message: sentence(root.message(for: error)), hint: "see: \(command) --help"
      ).write(program: program)
      return ExitStatus.usage
    default:
      let report = ErrorReport(error)
      report.write(program: program)
      return report.status
    }
  }

  private static func report(unknownSubcommand unknown: String, _ path: CommandPath) -> Int32 {
    let names = path.names.joined(separator: " ")
    let command = path.isHelp ? "\(names) help" : names
    ErrorReport(
      status: ExitStatus.usage,
      message: path.isHelp ? "there is no help on '\(unknown)'" : "there is no command '\(unknown)' in \(command)",
      hint: path.suggestion.map { "did you mean: \(command) \($0)" } ?? "see: \(names) --help"
    ).write(program: path.names.first ?? "")
    return ExitStatus.usage
  }

  /// The parser's message in the form of the tools' own: one line that does not start with a capital.
  private static func sentence(_ message: String) -> String {
    let lines = message.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let text = lines.joined(separator: " ")
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
