import ArgumentParser
import Foundation
import Godwit
import ToolSupport

/// Runs the program `godwit-agent`, which is built and installed apart (Specs/agent.md, "The agent").
struct AgentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Keep replicas in sync with their remotes, and say how they are (by godwit-agent).",
    discussion: """
      Examples:
        godwit agent run notes shop
        godwit agent status
        godwit agent help run
      """)

  private static let program = "godwit-agent"

  @Argument(parsing: .captureForPassthrough, help: "As of godwit-agent.")
  var arguments: [String] = []

  func run() async throws {
    let path = try Self.find()
    // A worker's thread blocks signals, and the program is to take them.
    var signals = sigset_t()
    sigemptyset(&signals)
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    let words = ([Self.program] + arguments).map { strdup($0) } + [nil]
    execv(path, words)
    throw GodwitError(.fileAccess, "\(path) cannot be run: \(String(cString: strerror(errno)))")
  }

  /// Beside this program, or on the PATH.
  private static func find() throws -> String {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let beside = URL(fileURLWithPath: own).deletingLastPathComponent().path
    let folders = [beside] + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let paths = folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(program)" }
    guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
      throw GodwitError(
        .notFound, "there is no \(program) beside this program or on the PATH",
        hint: "install the package \(program), or build it: swift build -c release --product \(program)")
    }
    return path
  }
}
