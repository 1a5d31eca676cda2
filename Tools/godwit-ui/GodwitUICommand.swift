import ArgumentParser
import Foundation
import Godwit
import ToolSupport

/// The program `godwit-ui`, which `godwit ui` runs.
@main
struct GodwitUICommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "godwit-ui",
    abstract: "Show a replica in a browser on this machine, kept up to date, until Ctrl-C.",
    discussion: """
      Prints an address on loopback that ends in a token: whoever has it sees the rows of conflicts, restores what lost,
      and syncs. The next run has another.

      Examples:
        godwit ui
        godwit -C notes ui --port 8642
      """,
    version: "godwit-ui \(GodwitVersion.current)")

  @Option(help: ArgumentHelp("The port on loopback. (default: one that is free)", valueName: "port"))
  var port: UInt16?

  @OptionGroup var options: ReplicaOptions

  static func main() { Tool.main(Self.self) }

  func run() async throws {
    let (stops, stop) = AsyncStream.makeStream(of: Void.self)
    OpenFiles.raiseLimit()
    // A browser that goes away is no reason to end.
    SignalStream.take([SIGTERM, SIGPIPE]) { signal in
      if signal == SIGTERM { stop.finish() }
    }
    try await Interrupts.withListener({ stop.finish() }) {
      try await options.withReplica { try await serve($0, until: stops) }
    }
  }

  private func serve(_ replica: Replica, until stops: AsyncStream<Void>) async throws {
    let session = UISession(replica)
    let server = try UIServer(session, port: port)
    let console = options.console
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask {
        let address = try await server.address()
        try console.usesJSON ? console.line(["url": .string(address)]) : console.line(address)
        console.note("open it in a browser on this machine; Ctrl-C ends it")
        await session.watch()
      }
      group.addTask { for await _ in stops {} }
      // The first that ends: the server by an error, the replica's end, or a signal.
      try await group.next()
      group.cancelAll()
    }
  }
}
