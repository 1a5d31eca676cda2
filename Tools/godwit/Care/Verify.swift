import ArgumentParser
import Godwit
import ToolSupport

struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check the whole replica and print a digest of its data.",
    discussion: """
      Reads every page, recomputes the hash chain of every replica's transactions and checks all foreign keys. The
      digest is equal on replicas that hold the same changes.

      Examples:
        godwit verify
        test "$(godwit verify --digest-only)" = "$(ssh desk godwit -C notes verify --digest-only)"
      """)

  @Flag(help: "Print the digest alone, after the same checks.")
  var digestOnly = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let console = options.console
    let report = try await options.withReplica { try await $0.verify() }
    if options.json {
      try console.line([
        "sound": .bool(report.isSound), "digest": .string(report.digest),
        "transactions": .number(report.transactions), "rows": .number(report.rows),
        "problems": .array(report.problems.map { .string($0) }),
      ])
    } else {
      for problem in report.problems {
        ErrorReport(status: ExitStatus.damaged, message: problem)
          .write(program: GodwitCommand.configuration.commandName ?? "")
      }
      try console.line(digestOnly ? report.digest : "digest \(report.digest)")
    }
    guard report.isSound else { throw ExitCode(ExitStatus.damaged) }
    if !digestOnly {
      console.note(
        "sound: \(Format.count(report.transactions, "transaction")), \(Format.count(report.rows, "row"))")
    }
  }
}
