import ArgumentParser
import ToolSupport

struct ScanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan", abstract: "Record this machine's packages, writing only what changed since the last scan.",
    discussion: """
      Examples:
        inventory-agent scan
        inventory-agent scan --available --json

      Notes and pins are never touched. A package that is no longer there is deleted with its note.
      """)

  @OptionGroup var options: ReplicaOptions

  @Flag(help: "Record also the packages that apt could install.")
  var available = false

  @Option(help: "Record the packages under this name. (default: the host name)")
  var machine: String?

  @Option(help: ArgumentHelp("dpkg's record of what is installed.", valueName: "path"))
  var statusFile = "/var/lib/dpkg/status"

  @Option(
    help: ArgumentHelp("Read available packages from a file, not from apt. Implies --available.", valueName: "path"))
  var availableFile: String?

  func run() async throws {
    try await options.withInventory { inventory in
      let progress = options.console.progress("recording")
      defer { progress.finish() }
      let report = try await inventory.scan(.current(named: machine), from: sources, progress: progress.update)
      progress.finish()
      try options.console.report(report.json, report.description)
    }
  }

  private var sources: [PackageSource] {
    var sources = [PackageSource.statusFile(statusFile)]
    if let availableFile {
      sources.append(.availableFile(availableFile))
    } else if available {
      sources.append(.aptCache)
    }
    return sources
  }
}
