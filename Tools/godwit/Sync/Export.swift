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
        godwit export --volume-size 650M changes.godwit-sync

      With --state it writes the whole state, for a member that lacks what the others have forgotten; for one that is \
      known to be new it does so by itself. The member imports it as any other file, or with --rejoin when it has been \
      away for too long:
        godwit export --state --for laptop - | ssh laptop godwit -C notes import --rejoin -

      To leave, with the tables as they are and without encryption, readable by whoever has the file:
        godwit export --plaintext notes.db
      """)

  @Argument(help: "The file, or - for the standard output. A file that exists is replaced.")
  var file: String

  @Option(name: .customLong("for"), help: ArgumentHelp("Seal it to this one member. (default: all)", valueName: "name"))
  var member: String?

  @Flag(help: "Include what the others are known to hold.")
  var all = false

  @Flag(help: "Write the whole state in place of changes.")
  var state = false

  @Option(
    help: ArgumentHelp(
      "Cut it into files FILE.001, FILE.002 … of this size at most: 650M, 4095M, 100MB.", valueName: "size"))
  var volumeSize: ByteCount?

  @Flag(help: "Write a SQLite database WITHOUT ENCRYPTION in place of a sync file.")
  var plaintext = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard !plaintext || member == nil && !all && !state && volumeSize == nil else {
      throw ValidationError(
        "--plaintext writes all tables into one file for whoever has it, without --for, --all, --state and --volume-size"
      )
    }
    guard !state || !all else { throw ValidationError("--state has all that --all would add") }
    guard !plaintext || file != "-" else { throw ValidationError("--plaintext needs the name of a file") }
  }

  func run() async throws {
    if plaintext { return try await exportPlaintext() }
    let console = options.console
    let report = try await options.withReplica { replica in
      let destination = try SyncDestination(argument: file, volumeSize: volumeSize)
      let bar = console.progress("exporting")
      defer { bar.finish() }
      if state { return try await replica.exportState(to: destination, for: member) { bar.update($0) } }
      return try await replica.export(to: destination, for: member, includesAll: all) { bar.update($0) }
    }
    if options.json {
      let json: JSONValue = [
        "file": .string(file), "transactions": .number(report.transactions),
        "recipients": .number(report.recipients), "bytes": .number(report.bytes),
        "stateFile": .bool(report.isStateFile), "volumes": .array(report.volumes.map { .string($0) }),
      ]
      return try file == "-" ? StandardStream.error.write(json.text + "\n") : console.line(json)
    }
    console.note(
      "exported \(report.isStateFile ? "the whole state and " : "")\(Format.count(report.transactions, "transaction")), \(Format.byteSize(report.bytes)), "
        + "for \(Format.count(report.recipients, "member")), this one included")
    if let last = report.volumes.last {
      console.note("in \(Format.count(report.volumes.count, "volume")), up to \(Format.printable(last))")
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
        "encrypted": .bool(false),
      ])
    }
    let (tables, rows) = (Format.count(report.tables, "table"), Format.count(report.rows, "row"))
    console.note("wrote \(tables), \(rows), without encryption")
  }
}
