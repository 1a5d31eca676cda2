import ArgumentParser
import Foundation
import Godwit
import GodwitFiles
import GodwitKeys
import ToolSupport

struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a replica, the first of a new group.",
    discussion: """
      With --from it gets the tables and rows of another program's database: SQLite's, without encryption, or one of
      SQLCipher 3 or 4, whose passphrase is asked for. The database is only read, and its SQL does not run here: views,
      triggers and checks are left out and named. Its tables stay on this machine until godwit table start-sync lets
      their rows travel.

      Examples:
        godwit init
        godwit init notes --name desk
        godwit init --post-quantum
        godwit init --from shop.db
        godwit init --from vault.db --from-secret-file vault.pass
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

  @Option(help: ArgumentHelp("A database to take tables and rows from.", valueName: "file"))
  var from: String?

  @Option(
    help: ArgumentHelp(
      "A file with that database's passphrase, or its key as x'HEX'; - is the standard input. (default: asked for)",
      valueName: "file"))
  var fromSecretFile: String?

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard name != "" else { throw ValidationError("the name is empty") }
    if let name {
      do { try MemberName.check(name) } catch let error as GodwitError { throw ValidationError(error.message) }
    }
    try options.claimInput([fromSecretFile])
    guard from != nil || fromSecretFile == nil else { throw ValidationError("--from-secret-file goes with --from") }
  }

  func run() async throws {
    let location = try options.locator.new(in: path)
    // With --from there may be what a run that was killed left, which only the library can distinguish from a replica.
    guard from != nil || !location.hasDatabase else {
      throw GodwitError(
        .replicaExists, "there is a replica in \(location.folder) already",
        hint: "see: godwit -C \(ShellWord.quoted(location.folder)) status")
    }
    let report = try await convert(to: location)
    let replica = try await Replica.open(
      at: location.folder,
      configuration: .init(name: name ?? HostName.current, key: location.keys, isPostQuantum: postQuantum))
    let own = try await replica.closing { try await $0.members.list().first(where: \.isOwn)?.name ?? "" }
    if options.json {
      var members: [(String, JSONValue)] = [
        ("path", .string(replica.path)), ("replica", .string("\(replica.identity.replica)")),
        ("group", .string("\(replica.group)")), ("name", .string(own)),
      ]
      if let report { members += report.json }
      try options.console.line(.object(members))
    } else {
      options.console.note("made the replica \(Format.printable(own)) in \(Format.printable(replica.path))")
      if try await location.opensByMachineKey() {
        options.console.note(
          "\(Format.printable(location.machineKey)) opens it; for when that is lost: godwit keyring add recovery-code")
      }
      for line in report?.lines ?? [] { options.console.note(Format.printable(line)) }
    }
  }

  private func convert(to location: ReplicaLocation) async throws -> Replica.ConversionReport? {
    guard let from else { return nil }
    let bar = options.console.progress("reading")
    defer { bar.finish() }
    return try await Replica.make(
      at: location.folder, from: try source(from), name: name ?? HostName.current, key: location.keys,
      postQuantum: postQuantum
    ) { bar.update($0) }
  }

  private func source(_ file: String) throws -> DatabaseSource {
    if let fromSecretFile {
      return .sqlcipher(at: file, openedBy: .passphrase(file: OfferedSecrets.path(fromSecretFile)))
    }
    guard try !DatabaseSource.isPlaintext(file) else { return .plaintext(at: file) }
    let unavailable = GodwitError(
      .noKeyFits, "\(file) is encrypted, or is no database, and there is no terminal to ask for its secret at",
      hint: "name a file with the secret: --from-secret-file FILE; - is the standard input")
    return .sqlcipher(
      at: file,
      openedBy: .passphrase {
        try TerminalPrompt.ask("Passphrase of \(Format.printable(file)): ", unavailable: unavailable)
      })
  }

}

extension Replica.ConversionReport {
  fileprivate var lines: [String] {
    var lines = tables.map { table in
      let without = table.leftOut.isEmpty ? "" : ", without \(table.leftOut.joined(separator: ", "))"
      let plain = table.obstacle.map { "; a plain table, reached by SQL alone: \($0)" } ?? ""
      return "  \(table.name): \(Format.count(table.rows, "row"))\(without)\(plain)"
    }
    lines += leftOut.map { "  \($0.name): left out, \($0.kind.words)" }
    if !leftOut.isEmpty || tables.contains(where: { !$0.leftOut.isEmpty }) {
      lines.append("SQL of the database does not run here; --json shows all of it")
    }
    if tables.contains(where: { $0.obstacle == nil }) {
      lines.append("to let a table's rows travel: godwit table start-sync TABLE")
    }
    return lines
  }

  /// Specs/cli.md, "init".
  fileprivate var json: [(String, JSONValue)] {
    [
      ("tables", .array(tables.map(\.json))),
      (
        "leftOut",
        .array(leftOut.map { ["type": .string($0.kind.rawValue), "name": .string($0.name), "sql": .string($0.sql)] })
      ),
    ]
  }
}

extension Replica.ConversionReport.Table {
  fileprivate var json: JSONValue {
    [
      "table": .string(name), "rows": .number(rows), "obstacle": obstacle.map { .string($0) } ?? .null,
      "leftOut": .array(leftOut.map { .string($0) }), "sql": .string(sql),
    ]
  }
}

extension Replica.ConversionReport.Part.Kind {
  fileprivate var words: String {
    switch self {
    case .index: "an index of more than plain columns"
    case .trigger: "a trigger"
    case .view: "a view"
    case .virtualTable: "a virtual table, or part of one"
    }
  }
}
