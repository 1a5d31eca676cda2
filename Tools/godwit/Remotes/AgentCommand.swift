import ArgumentParser
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

  @Argument(parsing: .captureForPassthrough, help: "As of godwit-agent.")
  var arguments: [String] = []

  func run() async throws { try OtherProgram("godwit-agent").replaceThisOne(with: arguments) }
}
