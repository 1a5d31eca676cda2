import ArgumentParser
import Foundation
import Godwit
import GodwitFiles
import ToolSupport

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Be the other end of a sync: by ssh, or for other users and containers on this machine.",
    discussion: """
      Nobody types --stdio: godwit sync has ssh run it. In authorized_keys, so that a key may do nothing else:
        restrict,command="godwit serve --stdio /srv/notes" ssh-ed25519 AAAA…
      or, for the replicas in a folder, of which the client names one:
        restrict,command="godwit serve --stdio --restrict /srv" ssh-ed25519 AAAA…

      A socket is open to this user and to its group, which is its folder's where that has the setgid bit.
      Whoever reaches it must be a member to sync:
        godwit serve --socket /run/notes/godwit.sock /srv/notes
        godwit remote add notes unix:///run/notes/godwit.sock && godwit sync
      """)

  @Flag(help: "Talk over the standard input and output.")
  var stdio = false

  @Option(help: ArgumentHelp("Listen at a Unix socket, until Ctrl-C.", valueName: "path"))
  var socket: String?

  @Argument(help: "The replica, as of -C; by default, with --restrict, what a client has asked sshd for.")
  var path: String?

  @Option(help: ArgumentHelp("Serve only replicas in or below this folder; may be repeated.", valueName: "folder"))
  var restrict: [String] = []

  @Flag(help: "Take in, and send nothing.")
  var receiveOnly = false

  @Flag(help: "Send, and take in nothing.")
  var sendOnly = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard stdio != (socket != nil) else { throw ValidationError("give either --stdio or --socket PATH") }
    guard path != nil || stdio && !restrict.isEmpty else {
      throw ValidationError("give the replica's PATH; in authorized_keys --restrict may take its place")
    }
    if stdio { try options.claimInput(["-"]) }
    guard path == nil || options.path == nil else {
      throw ValidationError("name the replica by PATH or by -C, not by both")
    }
    guard !receiveOnly || !sendOnly else { throw ValidationError("--receive-only and --send-only leave nothing to do") }
  }

  func run() async throws {
    var path = try path ?? Self.pathOfClient()
    if !restrict.isEmpty {
      // What is checked is what is opened; what leads nowhere has no other form.
      path = FilePath.resolved(path)
    }
    guard restrict.isEmpty || restrict.contains(where: { Self.contains(path, FilePath.resolved($0)) }) else {
      throw GodwitError(
        .refused, "this key may not reach \(path)", hint: "see --restrict in authorized_keys over there")
    }
    var located = options
    located.path = path
    try await located.withReplica { replica in
      guard let socket else {
        // Whoever goes away ends the talk, and not the program, which has a file to remove.
        signal(SIGPIPE, SIG_IGN)
        _ = try await replica.serve(
          reading: FileDescriptor(0, path: "standard input", closes: false),
          writing: FileDescriptor(1, path: "standard output", closes: false), receives: !sendOnly, sends: !receiveOnly)
        return
      }
      try await listen(FilePath.absolute(socket), replica)
    }
  }

  /// Whether a path without links is a folder or lies below it, byte by byte.
  private static func contains(_ path: String, _ folder: String) -> Bool {
    let parts = path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    let root = folder.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    return path.hasPrefix("/") && folder.hasPrefix("/") && parts.starts(with: root) && !parts.contains(Array("..".utf8))
  }

  /// What sshd was asked for, when it runs this in its place.
  private static func pathOfClient() throws -> String {
    guard let command = ProcessInfo.processInfo.environment["SSH_ORIGINAL_COMMAND"],
      let path = Replica.pathToServe(askedForBy: command)
    else {
      throw GodwitError(
        .refused, "nobody has asked for a replica here", hint: "sync with ssh://HOST/PATH, or give the replica's PATH")
    }
    return path
  }

  /// Until the task is cancelled, which is what ends it.
  private func listen(_ place: String, _ replica: Replica) async throws {
    let console = options.console
    do {
      try await replica.serve(atSocket: place, receives: !sendOnly, sends: !receiveOnly) {
        console.note("listening at \(Format.printable(place))")
      } failed: { error in
        console.note("a talk ended early: \(Format.printable((error as? GodwitError)?.message ?? "\(error)"))")
      }
    } catch is CancellationError {}
  }
}
