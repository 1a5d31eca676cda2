import ArgumentParser
import Godwit
import ToolSupport

struct SnapshotCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Write the whole state as a sync file that only members can open.",
    discussion: """
      For a member that lacks what the others have forgotten; export does so by itself for one that is known to be
      new. The member imports it as any other file, or with --rejoin when it has been away for too long.

      Examples:
        godwit snapshot /media/stick/all.godwit-sync
        godwit snapshot --for laptop - | ssh laptop godwit -C notes import --rejoin -
      """)

  @Argument(help: "The file, or - for the standard output. A file that exists is replaced.")
  var file: String

  @Option(name: .customLong("for"), help: ArgumentHelp("Seal it to this one member. (default: all)", valueName: "name"))
  var member: String?

  @Option(
    help: ArgumentHelp(
      "Cut it into files FILE.001, FILE.002 … of this size at most: 650M, 4095M, 100MB.", valueName: "size"))
  var volumeSize: ByteCount?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let console = options.console
    let report = try await options.withReplica { replica in
      let destination = try SyncDestination(argument: file, volumeSize: volumeSize)
      let bar = console.progress("exporting")
      defer { bar.finish() }
      return try await replica.exportState(to: destination, for: member) { bar.update($0) }
    }
    if options.json {
      let json: JSONValue = [
        "file": .string(file), "transactions": .number(report.transactions),
        "recipients": .number(report.recipients), "bytes": .number(report.bytes),
        "volumes": .array(report.volumes.map { .string($0) }),
      ]
      return try file == "-" ? StandardStream.error.write(json.text + "\n") : console.line(json)
    }
    console.note(
      "wrote \(Format.byteSize(report.bytes)) for \(Format.count(report.recipients, "member")), this one included")
  }
}
