import ArgumentParser
import Godwit
import ToolSupport

struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check the whole replica and print a digest of its data, or check sync files.",
    discussion: """
      Reads every page, recomputes the hash chain of every replica's transactions and checks all foreign keys. The
      digest is equal on replicas that hold the same changes.

      With files, checks these instead as import would: form, hash chains, counts and that a member signed them. Nothing
      is imported, and the database is not opened.

      What the tables hold is noted beside the keyring. When an opening finds that they hold something else, pages of
      the database were put back or altered: restore a backup, or rejoin from another replica. With --accept the
      tables are taken as they are.

      Examples:
        godwit verify
        godwit verify /media/stick/*.godwit-sync
        test "$(godwit verify --digest-only)" = "$(ssh desk godwit -C notes verify --digest-only)"
      """)

  @Argument(help: "Sync files to check; - is the standard input.", completion: .file())
  var files: [String] = []

  @Flag(help: "Print the digest alone, after the same checks.")
  var digestOnly = false

  @Flag(help: "Take the tables as they are when they hold something else than was noted beside the keyring.")
  var accept = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard files.isEmpty || !digestOnly else { throw ValidationError("'--digest-only' is about a replica, not files") }
    guard files.isEmpty || !accept else { throw ValidationError("'--accept' is about a replica, not files") }
    try options.claimInput(files)
  }

  func run() async throws {
    guard files.isEmpty else { return try await verifyFiles() }
    let console = options.console
    let accept = accept
    let (report, names) = try await options.withReplica { replica in
      if accept { try await replica.maintenance.acceptState() }
      return (try await replica.maintenance.verify(), ReplicaNames(try await replica.members.list()))
    }
    if options.json {
      try console.line([
        "sound": .bool(report.isSound), "digest": .string(report.digest), "stateHash": .string(report.stateHash),
        "transactions": .number(report.transactions), "rows": .number(report.rows),
        "problems": .array(report.problems.map { .string($0) }),
        "differing": .array(report.differing.map { .object(names.json($0)) }),
      ])
    } else {
      for problem in report.problems {
        ErrorReport(status: ExitStatus.damaged, message: problem)
          .write(program: GodwitCommand.configuration.commandName ?? "")
      }
      if report.alteredAt != nil {
        console.note("hint: restore a backup, or rejoin from another replica; --accept takes the tables as they are")
      }
      try console.line(digestOnly ? report.digest : "digest \(report.digest)")
      if !digestOnly {
        try console.line("state  \(report.stateHash)")
        for replica in report.differing { console.note(names.differing(replica)) }
      }
    }
    guard report.isSound else { throw ExitCode(ExitStatus.damaged) }
    if !digestOnly {
      console.note(
        "sound: \(Format.count(report.transactions, "transaction")), \(Format.count(report.rows, "row"))")
    }
  }

  /// Continues after a file that is not sound; the exit code is that of the first.
  private func verifyFiles() async throws {
    let location = try options.locator.existing()
    var failure: Int32?
    for (source, file) in try SyncSource.sources(arguments: files) {
      do {
        let inspection = try await Replica.verify(source, at: location.folder, key: location.keys)
        guard let content = inspection.content else { continue }
        let names = ReplicaNames(content.members)
        if options.json {
          try options.console.line([
            "file": .string(file), "sound": .bool(true), "sender": .object(names.json(content.sender)),
            "transactions": .number(content.transactions), "stateFile": .bool(content.isStateFile),
          ])
        } else {
          let count = Format.count(content.transactions, "transaction")
          let carried = content.isStateFile ? "\(count) and the whole state" : count
          try options.console.line(
            Format.printable("\(file): sound, \(carried), signed by \(names.name(content.sender))"))
        }
      } catch let error as GodwitError {
        let report = ErrorReport(error.naming(file))
        report.write(program: GodwitCommand.configuration.commandName ?? "")
        failure = failure ?? report.status
      }
    }
    if let failure { throw ExitCode(failure) }
  }
}
