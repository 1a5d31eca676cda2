import ArgumentParser
import Foundation
import Godwit
import GodwitFiles
import ToolSupport

struct Join: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Join the group of an invitation made for this machine's identity.",
    discussion: """
      An invitation says itself who made it. Compare the inviter's fingerprint with what godwit identity says on the
      inviter's machine: aloud, or over a connection that you trust.

      With a remote in place of an invitation the first call asks there to join, and the second one joins once a member
      has answered with godwit member add --from; it also adds the remote and syncs.

      Examples:
        godwit join laptop.godwit-invitation
        godwit join laptop.godwit-invitation --fingerprint cd78-1097-abf4-45d5-08e1
        godwit join /media/stick/godwit --name laptop
        ssh desk cat laptop.godwit-invitation \
          | godwit join - --fingerprint "$(ssh desk godwit -C notes identity --fingerprint)"
      """)

  @Argument(
    help: ArgumentHelp(
      "The invitation, - for the standard input, or a remote: a folder or s3://BUCKET/PREFIX?endpoint=URL.",
      valueName: "invitation"), completion: .file())
  var place: String

  @Option(help: "At a remote: what the members are asked to call this machine. (default: the host's name)")
  var name: String?

  @Option(help: "At a remote: what this replica is to call it. (default: home)")
  var remote: String?

  @Flag(help: "At a remote: make an identity with hybrid keys, as a post-quantum group needs.")
  var postQuantum = false

  @OptionGroup var rate: RateOption

  @OptionGroup var verification: VerificationArguments

  @OptionGroup var options: ReplicaOptions

  /// Also one that is not there, when there is something to say to a remote: what it lies on may not be mounted.
  private var isRemote: Bool {
    var isFolder: ObjCBool = false
    if place.contains("://") { return true }
    let isThere = FileManager.default.fileExists(atPath: place, isDirectory: &isFolder)
    return isThere ? isFolder.boolValue : place != "-" && asksRemote
  }

  private var asksRemote: Bool { name != nil || remote != nil || postQuantum }

  func validate() throws {
    try options.claimInput([place])
    guard isRemote || !asksRemote && rate.bytesPerSecond == nil else {
      throw ValidationError(
        "--name, --remote, --post-quantum and --limit-rate are for joining at a remote; an invitation has the name")
    }
  }

  func run() async throws {
    let location = try options.locator.existingOrNew()
    if isRemote { return try await join(at: location) }
    guard location.hasKeyring || location.hasDatabase else {
      throw GodwitError(
        .missingKeyring, "there is no identity in \(location.folder) to join with",
        hint: "run: godwit identity, and have a member make an invitation for what it prints")
    }
    let source = try SyncSource(argument: place)
    let replica = try await Replica.join(
      at: location.folder, invitation: source, inviter: verification.verification(of: "who made the invitation"),
      key: location.keys)
    let members = try await replica.closing { try await $0.members.list() }
    try show(replica, members)
    if !options.json { options.console.note("next, import a file from one of them: godwit import FILE") }
  }

  private func join(at location: ReplicaLocation) async throws {
    let remote = remote ?? "home"
    let joining = try await Replica.join(
      at: location.folder, remote: place, calling: remote, name: name ?? HostName.current,
      inviter: verification.verification(of: "who made the invitation"), key: location.keys, postQuantum: postQuantum)
    switch joining {
    case .requested(let identity): try show(identity)
    case .joined(let replica):
      try await replica.closing { replica in
        let members = try await replica.members.list()
        try show(replica, members)
        let report = try await replica.sync(with: [remote], maximumBytesPerSecond: rate.bytesPerSecond)
        try Sync.show(report, ReplicaNames(members), on: options)
      }
    }
  }

  private func show(_ identity: PublicIdentity) throws {
    if options.json {
      return try options.console.line([
        "requested": .bool(true), "replica": .string("\(identity.replica)"),
        "fingerprint": .string(identity.fingerprint), "words": .string(identity.fingerprintWords),
      ])
    }
    options.console.note("asked to join; the \(identity.fingerprintLine)")
    options.console.note("a member answers with: godwit member add --from REMOTE")
    options.console.note("then here again: godwit join \(ShellWord.quoted(place))")
  }

  private func show(_ replica: Replica, _ members: [Member]) throws {
    let own = members.first(where: \.isOwn)?.name ?? ""
    if options.json {
      return try options.console.line([
        "path": .string(replica.path), "replica": .string("\(replica.identity.replica)"),
        "group": .string("\(replica.group)"), "name": .string(own),
      ])
    }
    let others = members.filter { $0.isActive && !$0.isOwn }.map(\.name).sorted().joined(separator: ", ")
    options.console.note("joined as \(Format.printable(own)), with \(Format.printable(others))")
  }
}
