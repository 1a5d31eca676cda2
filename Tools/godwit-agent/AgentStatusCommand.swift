import ArgumentParser
import Godwit
import ToolSupport

struct AgentStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Ask the agent how its replicas are.",
    discussion: """
      Exits with 0 when all is well, with 1 when a replica is not open, a remote fails or a history is forked, and \
      with 2 when no agent answers.

      Examples:
        godwit agent status
        godwit agent status --json --socket /run/godwit/agent.sock
      """)

  /// No agent answers.
  private static let noAgent: Int32 = 2

  @OptionGroup var socket: SocketOption

  @Flag(help: "Write it as JSON.")
  var json = false

  func run() async throws {
    let answer: (text: String, isGood: Bool)
    do {
      answer = try await AgentSocket.existing(socket.socket).get(json ? "/status" : "/status.txt")
    } catch let error as CancellationError {
      throw error
    } catch {
      ErrorReport(error).write(program: GodwitAgentCommand.configuration.commandName ?? "")
      throw ExitCode(Self.noAgent)
    }
    try StandardStream.output.write(answer.text)
    if !answer.isGood { throw ExitCode(ExitStatus.failed) }
  }
}

/// Where an agent answers.
struct SocketOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The socket. (default: $GODWIT_AGENT_SOCKET, $XDG_RUNTIME_DIR/godwit/agent.sock or /run/godwit/agent.sock)",
      valueName: "path"))
  var socket: String?
}
