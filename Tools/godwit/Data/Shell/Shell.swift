import ArgumentParser
import Godwit
import ToolSupport

struct Shell: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read statements of SQL and run each of them as it ends.",
    discussion: """
      A statement ends with ; and may span lines. Queries show their rows; what others write is logged and travels as \
      any other write, each statement as a transaction of its own. Several in one: godwit exec. Rules and hooks that a \
      program has in code are not run. .help lists the commands that begin with a dot.

      At a terminal Ctrl-C ends the statement, or drops what was typed of one, and Ctrl-D ends the shell. Without a \
      terminal the first error ends it, and what ran before that stays.

      Examples:
        godwit shell
        godwit shell < report.sql
        rlwrap -H /dev/null godwit shell
        printf '.mode csv\\nSELECT * FROM note;\\n' | godwit shell > note.csv

      What is typed is written nowhere: statements hold values, and a history would keep them on the disk without \
      encryption. --history asks for that. rlwrap edits lines and keeps those of the session in memory.
      """)

  @Option(
    help: ArgumentHelp(
      "Add the statements to this file, WITHOUT ENCRYPTION, with the values in them. (default: no history)",
      valueName: "file"))
  var history: String?

  @OptionGroup var options: ReplicaOptions

  func validate() throws { try options.claimInput(["-"]) }

  func run() async throws {
    let console = options.console
    try await options.withReplica { replica in
      let history = try history.map { try StatementHistory($0, of: replica) }
      let interrupts = ShellInterrupts()
      let session = ShellSession(replica, console, interrupts, history)
      guard StandardStream.input.isTerminal else { return try await session.run() }
      console.note("godwit \(GodwitVersion.current): a statement ends with ; and Ctrl-D ends the shell; see .help")
      try await Interrupts.withListener(interrupts.interrupt) { try await session.run() }
    }
  }
}
