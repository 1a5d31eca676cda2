import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a replica, the first of a new group.",
    discussion: """
      Examples:
        godwit init
        godwit init notes --name desk
        godwit init --post-quantum
      """)

  @Argument(help: "The folder to make .godwit in. (default: the folder of -C, or this one)")
  var path: String?

  @Option(help: "What the members call this replica. (default: the host's name)")
  var name: String?

  @Flag(
    help: """
      Seal files to hybrid keys (ML-KEM-768 with X25519), which a quantum computer does not open. All members of the \
      group must be made with it.
      """)
  var postQuantum = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let location = options.locator.new(in: path)
    guard !location.hasDatabase else {
      throw GodwitError(
        .replicaExists, "there is a replica in \(location.folder) already",
        hint: "see: godwit -C \(location.folder) status")
    }
    let replica = try await Replica.open(
      at: location.folder, name: name ?? Self.hostName, key: location.keys, postQuantum: postQuantum)
    let own = try await replica.members().first(where: \.isOwn)?.name ?? ""
    await replica.close()
    if options.json {
      try options.console.line([
        "path": .string(replica.path), "replica": .string("\(replica.identity.replica)"),
        "group": .string("\(replica.group)"), "name": .string(own),
      ])
    } else {
      options.console.note("made the replica \(Format.printable(own)) in \(Format.printable(replica.path))")
    }
  }

  /// The host's name without its domain; asking for more could ask the network.
  private static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    let result = gethostname(&buffer, buffer.count - 1)
    let bytes = buffer.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }
    let name = String(decoding: bytes, as: UTF8.self)
    return result == 0 && !name.isEmpty ? name : "first"
  }
}
