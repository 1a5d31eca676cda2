import ArgumentParser
import Foundation
import Godwit
import GodwitAgent
import ToolServer
import ToolSupport

struct AgentRun: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Keep replicas in sync with their remotes until SIGTERM or Ctrl-C.",
    discussion: """
      What is written here, by any program, goes out two seconds later, and remotes are asked once a minute. SIGHUP \
      closes and opens every replica, so that keys and credentials are read anew.

      Examples:
        godwit agent run notes shop
        godwit agent run --every 300 --listen 9470     (metrics for Prometheus, on loopback)
      """)

  @Argument(help: "The replicas' folders, as -C has them. (default: the one that -C names, or the one here)")
  var folders: [String] = []

  @Option(help: ArgumentHelp("The interval, from 1 to 86400.", valueName: "seconds"))
  var every = 60

  @Flag(help: "Keep a log at the remotes for all members, as sync --collect does.")
  var collect = false

  @Option(
    help: ArgumentHelp(
      "Answer on TCP, too: a port on loopback, or an address with a port, such as 192.0.2.1:9470.", valueName: "port"))
  var listen: ListenAddress?

  @OptionGroup var rate: RateOption
  @OptionGroup var socket: SocketOption
  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard (1...86_400).contains(every) else { throw ValidationError("--every is from 1 to 86400") }
    guard folders.isEmpty || options.path == nil else {
      throw ValidationError("name the folders, or one by -C, but not both")
    }
  }

  /// Whether the standard error is the journal's: the variable has its device and inode (systemd.exec(5)), and is there
  /// as well where somebody has put another file in its place.
  private static func writesToJournal(_ environment: [String: String]) -> Bool {
    var status = stat()
    return fstat(2, &status) == 0 && environment["JOURNAL_STREAM"] == "\(status.st_dev):\(status.st_ino)"
  }

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    // What the library warns of is in the journal, with the replica that it is about.
    LibraryWarnings.silence()
    OpenFiles.raiseLimit()
    let journal = Journal(options.json ? .json : Self.writesToJournal(environment) ? .systemd : .text) {
      try? StandardStream.error.write($0 + "\n")
    }
    let rhythm = Agent.Rhythm(
      interval: .seconds(every), isCollecting: collect, maximumBytesPerSecond: rate.bytesPerSecond)
    let agent = Agent(try places(), rhythm, journal)
    let place = AgentSocket.new(socket.socket)
    let lock = try place.claim()
    defer { withExtendedLifetime(lock) {} }
    var servers = [try PageServer(.unix(place.path), AgentPages(agent.board, isLoopback: false))]
    if let listen {
      servers.append(try PageServer(listen.address, AgentPages(agent.board, isLoopback: listen.isLoopback)))
    }
    try await AgentService(agent, servers, place, journal).run()
  }

  private func places() throws -> [Agent.Place] {
    // The one that is looked for has to be there; one that is named may come later, as a disk that is not mounted yet.
    var places = try (folders.isEmpty ? [options.locator.existing().folder] : folders).map { folder in
      var located = options
      located.path = folder
      let locator = located.locator
      let path = URL(fileURLWithPath: try locator.existingOrNew().folder).resolvingSymlinksInPath().path
      return Agent.Place(folder: path) {
        let location = try locator.existing()
        return try await Replica.open(
          at: location.folder, configuration: .init(key: location.keysAnew, mustExist: true))
      }
    }
    // A replica by two of its names is one.
    var known: Set<String> = []
    places.removeAll { !known.insert($0.folder).inserted }
    return places
  }
}
