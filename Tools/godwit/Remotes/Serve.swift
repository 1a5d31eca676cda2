import ArgumentParser
import Foundation
import Godwit
import GodwitFiles
import ToolSupport

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Be the other end of a sync by ssh. Nobody types this: godwit sync has ssh run it.",
    discussion: """
      In authorized_keys, so that a key may do nothing else:
        restrict,command="godwit serve --stdio /srv/notes" ssh-ed25519 AAAA…
      """)

  @Flag(help: "Talk over the standard input and output, which is the only way there is.")
  var stdio = false

  @Argument(help: "The replica, as of -C.")
  var path: String

  @Option(help: ArgumentHelp("Serve only replicas in or below this folder; may be repeated.", valueName: "folder"))
  var restrict: [String] = []

  @Flag(help: "Take in, and send nothing.")
  var receiveOnly = false

  @Flag(help: "Send, and take in nothing.")
  var sendOnly = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard stdio else { throw ValidationError("give --stdio") }
    guard !receiveOnly || !sendOnly else { throw ValidationError("--receive-only and --send-only leave nothing to do") }
  }

  func run() async throws {
    let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let isAllowed =
      restrict.isEmpty
      || restrict.contains { folder in
        let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        return real == root || real.hasPrefix(root == "/" ? root : root + "/")
      }
    guard isAllowed else {
      throw GodwitError(
        .refused, "this key may not reach \(path)", hint: "see --restrict in authorized_keys over there")
    }
    var located = options
    located.path = path
    try await located.withReplica { replica in
      _ = try await replica.serve(
        reading: FileDescriptor(0, path: "standard input", closes: false),
        writing: FileDescriptor(1, path: "standard output", closes: false), receives: !sendOnly, sends: !receiveOnly)
    }
  }
}
