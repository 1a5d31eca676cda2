import ArgumentParser
import Godwit
import ToolSupport

/// The root of the program `godwit-agent`, which `godwit agent` runs.
@main
struct GodwitAgentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "godwit-agent",
    abstract: "Keep replicas in sync with their remotes, and say how they are.",
    discussion: """
      As a service of systemd, for all users or for one:
        systemctl enable --now godwit-agent
        systemctl --user enable --now godwit-agent
      """,
    version: "godwit-agent \(GodwitVersion.current)", subcommands: [AgentRun.self, AgentStatusCommand.self])

  static func main() { Tool.main(Self.self) }
}
