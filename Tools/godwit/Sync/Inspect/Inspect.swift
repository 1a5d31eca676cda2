import ArgumentParser
import Godwit
import ToolSupport

struct Inspect: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what a sync file is, without importing it.",
    discussion: """
      Anybody sees how large a file is and to what keys it is sealed. A replica whose key opens it also sees who made
      it, for whom, and what is in it. Its database is not opened.

      Examples:
        godwit inspect desk.godwit-sync
        godwit inspect --contents --json desk.godwit-sync | jq .operations
        ssh desk godwit -C notes export - | godwit inspect -
      """)

  @Argument(help: "The files; - is the standard input.", completion: .file())
  var files: [String]

  @Flag(help: "Also show the transactions with all they wrote, before the signature has been seen.")
  var contents = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws { try options.claimInput(files) }

  func run() async throws {
    var failure: Int32?
    for (source, file) in try SyncSource.sources(arguments: files) {
      do {
        try await show(source, file)
      } catch let error as GodwitError {
        failure = failure ?? report(error, file)
      }
    }
    if let failure { throw ExitCode(failure) }
  }

  /// The exit code that the error leads to.
  private func report(_ error: GodwitError, _ file: String) -> Int32 {
    let report = ErrorReport(error.naming(file))
    report.write(program: GodwitCommand.configuration.commandName ?? "")
    return report.status
  }

  private func show(_ source: SyncSource, _ file: String) async throws {
    let console = options.console
    let location = try options.locator.existingOrNew()
    let inspection = try await Replica.inspect(
      source, at: location.hasKeyring ? location.folder : nil, key: location.keys,
      onTransaction: contents ? handler(console) : nil)
    let view = InspectionView(file, inspection)
    try options.json ? console.line(view.json) : console.lines(view.lines.lazy.map(Format.printable))
    guard inspection.content != nil else {
      throw GodwitError(
        .notARecipient,
        location.hasKeyring ? "no key here opens the file" : "there is no replica here whose key could open the file",
        hint: "what is inside shows to its recipients alone; say where one is with -C PATH")
    }
    try inspection.requireMembersSignature()
  }

  /// Names of members are known at the file's end, so its transactions name replicas by their IDs.
  private func handler(_ console: Console) -> SyncSource.Inspection.Handler {
    let names = ReplicaNames([])
    guard !console.usesJSON else { return { try console.line($0.json(names)) } }
    return { try console.lines(($0.lines(names) + [""]).map(Format.printable)) }
  }
}

extension SyncSource.Inspection {
  /// A file that nobody known has signed was shown all the same; the exit code says so.
  fileprivate func requireMembersSignature() throws {
    switch content?.signature {
    case .verified, nil: return
    case .invalid: throw GodwitError(.invalidSignature, "the file's signature does not fit its content")
    case .unknownSender: throw GodwitError(.unknownSender, "the file's sender is no member of this group")
    case .replacedKey: throw GodwitError(.unknownSender, "the file's sender has replaced the key it was signed with")
    case .removedSender: throw GodwitError(.unknownSender, "the file's sender was removed from this group")
    }
  }
}
