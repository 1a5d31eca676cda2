import Foundation
import Godwit

/// The notebook on the command line.
@main
struct NotebookCommand {
  /// What may be asked for, and how many arguments follow.
  static let verbs = [
    "add": 1, "list": 0, "change": 2, "export": 1, "import": 1, "conflicts": 0, "identity": 0, "invite": 4, "join": 2,
  ]

  static let usage = """
    usage: notebook add TEXT | list | change NUMBER TEXT
           notebook export FILE | import FILE | conflicts
           notebook identity | invite IDENTITY NAME FINGERPRINT INVITATION | join INVITATION FINGERPRINT
    """

  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let verb = arguments.first, verbs[verb] == arguments.count - 1 else {
      say(usage)
      exit(64)
    }
    do {
      try await run(verb, Array(arguments.dropFirst()))
    } catch let error as GodwitError {
      say("notebook: \(error.message)")
      if let hint = error.hint { say("notebook: hint: \(hint)") }
      exit(1)
    } catch let mistake as Mistake {
      say("notebook: \(mistake.message)")
      exit(1)
    } catch {
      say("notebook: \(error)")
      exit(1)
    }
  }

  private static func run(_ verb: String, _ rest: [String]) async throws {
    let folder = ProcessInfo.processInfo.environment["NOTEBOOK"] ?? ".notebook"
    switch verb {
    case "identity":
      let identity = try await Notebook.identity(in: folder)
      print(identity)
      say("fingerprint \(identity.fingerprint)")
    case "join":
      try await Notebook.join(in: folder, by: rest[0], fingerprint: rest[1])
    default:
      let notebook = try await Notebook.open(in: folder)
      do {
        try await run(verb, rest, notebook)
      } catch {
        await notebook.close()
        throw error
      }
      await notebook.close()
    }
  }

  private static func run(_ verb: String, _ rest: [String], _ notebook: Notebook) async throws {
    switch verb {
    case "add":
      try await notebook.add(rest[0])
    case "list":
      for (index, note) in try await notebook.notes().enumerated() { print(index + 1, note.text) }
    case "change":
      try await notebook.change(Int(rest[0]) ?? 0, to: rest[1])
    case "export":
      let sent = try await notebook.export(to: rest[0])
      say("transactions: \(sent.transactions), machines: \(sent.recipients)")
    case "import":
      let report = try await notebook.import(from: rest[0])
      let (applied, conflicts) = (report.applied, report.attention.conflicts)
      say("applied: \(applied.transactions), known already: \(applied.duplicates), conflicts: \(conflicts)")
    case "conflicts":
      for conflict in try await notebook.conflicts() {
        guard case (.text(let lost), .text(let stays)) = (conflict.losingValue, conflict.winningValue) else { continue }
        print("\"\(lost)\" lost to \"\(stays)\"")
      }
    default:
      try await notebook.invite(rest[0], name: rest[1], fingerprint: rest[2], to: rest[3])
      say("who joins needs this fingerprint: \(notebook.replica.identity.fingerprint)")
    }
  }

  private static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
