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
      """)

  /// An identity is one line of some 150 characters, a post-quantum one of some 2,050.
  private static let identityByteLimit = 4096

  @Argument(help: "The identity, a file that holds it, or - for the standard input.")
  var identity: String

  @Option(help: "What the members call the machine.")
  var name: String

  @Option(
    help: ArgumentHelp(
      "Where the invitation goes; - is the standard output. (default: NAME.godwit-invitation)", valueName: "file"))
  var invitation: String?

  @OptionGroup var verification: VerificationArguments

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard !name.isEmpty else { throw ValidationError("the name is empty") }
    guard invitation != nil || !(name.contains("/") || name.hasPrefix(".")) else {
      throw ValidationError("'\(name)' cannot be a file's name; say where the invitation goes with --invitation")
    }
  }

  func run() async throws {
    let invited = try PublicIdentity(readIdentity())
    let file = invitation ?? "\(name).godwit-invitation"
    let own = try await options.withReplica { replica in
      let destination = try SyncDestination(argument: file)
      try await replica.members.invite(
        invited, name: name, verification: verification.verification(of: name), to: destination)
      return replica.identity
    }
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

  private func readIdentity() throws -> String {
    if identity.hasPrefix("godwit1") { return identity }
    let bytes: [UInt8]
    if identity == "-" {
      bytes = try StandardStream.input.readToEnd(limit: Self.identityByteLimit)
    } else {
      guard let file = FileHandle(forReadingAtPath: identity),
        let data = try? file.read(upToCount: Self.identityByteLimit) ?? Data()
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
