import ArgumentParser
import Godwit
import ToolSupport

struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write what other members may lack as a sync file that only members can open.",
    discussion: """
      Examples:
        godwit export changes.godwit-sync
        godwit export - | ssh desk godwit -C notes import -
        godwit export --all --for laptop /media/stick/laptop.godwit-sync
        godwit export --max-size 4MB changes.godwit-sync

      With --max-size one file becomes several where one would be too large, changes-001.godwit-sync, \
      changes-002.godwit-sync …: ordinary sync files, to be imported in any order. Those that come too early wait. \
      Files of an earlier export with greater numbers stay; importing them, too, does no harm.

      With --state it writes the whole state, for a member that lacks what the others have forgotten; for one that is \
      known to be new it does so by itself. The member imports it as any other file, or with --rejoin when it has been \
      away for too long:
        godwit export --state --for laptop - | ssh laptop godwit -C notes import --rejoin -

      To leave, with the tables as they are and without encryption, readable by whoever has the file:
        godwit export --plaintext notes.db
      """)

  @Argument(
    help: "The file, or - for the standard output. A file that exists is replaced.", completion: .file())
  var file: String

  @Option(name: .customLong("for"), help: ArgumentHelp("Seal it to this one member. (default: all)", valueName: "name"))
  var member: String?

  @Flag(help: "Include what the others are known to hold.")
  var all = false

  @Flag(help: "Write the whole state in place of changes.")
  var state = false

  @Option(
    help: ArgumentHelp(
      "Write several files where one would be larger than this: 650M, 4095M, 100MB; at least 16K.", valueName: "size"))
  var maxSize: ByteCount?

  @Flag(help: "Write a SQLite database WITHOUT ENCRYPTION in place of a sync file.")
  var plaintext = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard !plaintext || member == nil && !all && !state && maxSize == nil else {
      throw ValidationError(
        "--plaintext writes all tables into one file for whoever has it, without --for, --all, --state and --max-size"
      )
    }
    guard !state || !all else { throw ValidationError("--state has all that --all would add") }
    guard !plaintext || file != "-" else { throw ValidationError("--plaintext needs the name of a file") }
  }

  func run() async throws {
    if plaintext { return try await exportPlaintext() }
    let console = options.console
    let report = try await options.withReplica { replica in
      let destination = try SyncDestination(argument: file, maxSize: maxSize)
      let bar = console.progress("exporting")
      defer { bar.finish() }
      if state { return try await replica.exportState(to: destination, for: member) { bar.update($0) } }
      return try await replica.export(to: destination, for: member, includesAll: all) { bar.update($0) }
    }
    try warn(of: report)
    if options.json {
      let json = report.json(file)
      return try file == "-" ? StandardStream.error.write(json.text + "\n") : console.line(json)
    }
    console.note(
      "exported \(report.isStateFile ? "the whole state and " : "")\(Format.count(report.transactions, "transaction")), \(Format.byteSize(report.bytes)), "
        + "for \(Format.count(report.recipients, "member")), this one included")
    if let first = report.files.first, let last = report.files.last, report.files.count > 1 {
      console.note("in \(report.files.count) files, \(Format.printable(first.path)) to \(Format.printable(last.path))")
    }
    if !report.earlierFiles.isEmpty {
      let names = report.earlierFiles.map(Format.printable).joined(separator: ", ")
      console.note("not of this export, and left as they are: \(names)")
    }
  }

  /// These are no notes: nothing turns them off.
  private func warn(of report: ExportReport) throws {
    guard let maxSize else { return }
    for file in report.files where file.exceedsLimit {
      let reason =
        if report.isStateFile {
          "a whole state is one file"
        } else if file.transactions == 1 {
          "it holds a single transaction, which is not cut"
        } else if file.transactions == 0 {
          "each file begins with that much about members and tables"
        } else {
          "what another member has signed in one go is not cut"
        }
      let sizes = "has \(file.bytes) bytes, more than \(maxSize.count)"
      try StandardStream.error.write("godwit: warning: \(Format.printable(file.path)) \(sizes): \(reason)\n")
    }
  }

  /// The warning is no note: nothing turns it off.
  private func exportPlaintext() async throws {
    try StandardStream.error.write(
      "godwit: warning: \(Format.printable(file)) will not be encrypted: whoever can read it reads everything in it\n")
    let console = options.console
    let report = try await options.withReplica { replica in
      let bar = console.progress("exporting")
      defer { bar.finish() }
      return try await replica.maintenance.exportPlaintext(to: file) { bar.update($0) }
    }
    if options.json {
      return try console.line([
        "file": .string(file), "tables": .number(report.tables), "rows": .number(report.rows),
        "leftOut": .array(report.leftOut.map { .string($0) }), "encrypted": .bool(false),
      ])
    }
    let (tables, rows) = (Format.count(report.tables, "table"), Format.count(report.rows, "row"))
    console.note("wrote \(tables), \(rows), without encryption")
    if !report.leftOut.isEmpty {
      console.note("left out with virtual tables: \(report.leftOut.map(Format.printable).joined(separator: ", "))")
    }
  }
}
