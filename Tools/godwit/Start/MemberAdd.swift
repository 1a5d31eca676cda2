import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct MemberAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Make another machine a member and write the invitation that lets it join.",
    discussion: """
      The identity is what godwit identity printed there. Compare its fingerprint with what it says there: aloud, or
      over a connection that you trust. Who joins compares this replica's.

      Examples:
        godwit member add laptop.identity --name laptop
        godwit member add laptop.identity --name laptop --fingerprint lusab-babad-gutih-tugad-bamuf
        ssh laptop godwit -C notes identity | godwit member add - --name laptop --trust-first-use
        godwit member add --from home
        godwit member add --from home laptop --fingerprint lusab-babad-gutih-tugad-bamuf

      With --from it answers who has asked to join at a remote (godwit join URL), puts the invitation there, and syncs.
      """)

  /// An identity is one line of some 150 characters, a post-quantum one of some 2,050.
  private static let identityByteLimit = 4096

  @Argument(
    help: "The identity, a file that holds it, or - for the standard input; with --from who asks, by name or ID.")
  var identity: String?

  @Option(help: "What the members call the machine. (with --from the default is what it asks for)")
  var name: String?

  @Option(help: ArgumentHelp("Answer who has asked to join at this remote.", valueName: "remote"))
  var from: String?

  @Option(
    help: ArgumentHelp(
      "Where the invitation goes; - is the standard output. (default: NAME.godwit-invitation)", valueName: "file"))
  var invitation: String?

  @OptionGroup var verification: VerificationArguments

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard name?.isEmpty != true else { throw ValidationError("the name is empty") }
    guard identity?.isEmpty != true else { throw ValidationError("who is to be added is empty") }
    try options.claimInput([identity])
    guard from == nil else {
      guard invitation == nil else { throw ValidationError("with --from the invitation goes to the remote") }
      return
    }
    guard identity != nil else { throw ValidationError("give an identity, or --from REMOTE") }
    guard let name else { throw ValidationError("say what the members are to call the machine, with --name") }
    guard invitation != nil || !(name.contains("/") || name.hasPrefix(".")) else {
      throw ValidationError("'\(name)' cannot be a file's name; say where the invitation goes with --invitation")
    }
  }

  func run() async throws {
    if let from { return try await answer(at: from) }
    guard let identity, let name else { return }
    let invited = try PublicIdentity(Self.read(identity))
    let file = invitation ?? "\(name).godwit-invitation"
    let own = try await options.withReplica { replica in
      let destination = try SyncDestination(argument: file)
      try await replica.members.invite(
        invited, name: name, verification: verification.verification(of: name), to: destination)
      return replica.identity
    }
    try show(invited, name: name, invitation: file, by: own)
  }

  private func answer(at remote: String) async throws {
    try await options.withReplica { replica in
      let request = try pick(try await replica.remotes.requests(at: remote), at: remote)
      let called = name ?? request.name
      try await replica.remotes.invite(
        request, name: called, verification: verification.verification(of: called), at: remote)
      try show(request.identity, name: called, invitation: "\(remote):i/\(request.id)", by: replica.identity)
      let report = try await replica.sync(with: [remote])
      try Sync.show(report, ReplicaNames(try await replica.members.list()), on: options)
    }
  }

  /// As many digits of an ID as name a member.
  private static let leastDigits = 4

  /// The one who asks, or the one that is named.
  private func pick(_ requests: [Replica.JoinRequest], at remote: String) throws -> Replica.JoinRequest {
    let found = requests.filter { request in
      guard let identity else { return true }
      return request.name == identity
        || identity.utf8.count >= Self.leastDigits && "\(request.id)".hasPrefix(identity.lowercased())
        || request.identity.hasFingerprint(identity)
    }
    if let only = found.first, found.count == 1 { return only }
    let all = requests.map { "\($0.name) (\($0.identity.fingerprint))" }.joined(separator: ", ")
    guard !requests.isEmpty else {
      throw GodwitError(
        .invalidArgument, "nobody asks to join at \(remote)", hint: "on that machine: godwit join, with its URL")
    }
    throw GodwitError(
      .invalidArgument, "\(found.isEmpty ? "none of those who ask is" : "several ask, and are") meant",
      hint: "give one by its fingerprint: \(Format.printable(all))")
  }

  private func show(_ invited: PublicIdentity, name: String, invitation file: String, by own: PublicIdentity) throws {
    let console = options.console
    if options.json {
      let report: JSONValue = [
        "name": .string(name), "replica": .string("\(invited.replica)"),
        "fingerprint": .string(invited.fingerprint), "invitation": .string(file),
        "inviterFingerprint": .string(own.fingerprint), "inviterWords": .string(own.fingerprintWords),
      ]
      return try file == "-" ? StandardStream.error.write(report.text + "\n") : console.line(report)
    }
    if file != "-" { console.note("wrote \(Format.printable(file))") }
    console.note("who joins compares this replica's \(own.fingerprintLine)")
  }

  private static func read(_ identity: String) throws -> String {
    if identity.hasPrefix("godwit1") { return identity }
    let bytes: [UInt8]
    if identity == "-" {
      bytes = try StandardStream.input.readToEnd(limit: identityByteLimit)
    } else {
      guard let file = FileHandle(forReadingAtPath: identity),
        let data = try? file.read(upToCount: identityByteLimit) ?? Data()
      else {
        throw GodwitError(
          .fileAccess, "cannot read \(identity)",
          hint: "give an identity, which starts with godwit1, or a file with one")
      }
      bytes = Array(data)
    }
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
