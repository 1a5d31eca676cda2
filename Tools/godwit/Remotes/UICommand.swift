import ArgumentParser

/// Runs the program `godwit-ui`, which is built and installed apart (Specs/report.md, "The page that lives").
struct UICommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ui",
    abstract: "Show the replica in a browser on this machine, kept up to date (by godwit-ui).",
    discussion: """
      Examples:
        godwit ui
        godwit -C notes ui --port 8642
        godwit ui --help
      """)

  @Argument(parsing: .captureForPassthrough, help: "As of godwit-ui.")
  var arguments: [String] = []

  func run() async throws { try OtherProgram("godwit-ui").replaceThisOne(with: arguments) }
}
