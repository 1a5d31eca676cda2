import ArgumentParser
import Godwit
import ToolSupport

struct MemberLog: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "List who was added, removed and renamed, when and by whom.",
    discussion: """
      Every record about a member that counts, by the clocks of those who stated them, the earliest first. A member \
      lapses when who let it in is removed and the removal does not name it.

      Examples:
        godwit member log
        godwit member log --json
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let (changes, names) = try await options.withReplica { replica in
      (try await replica.members.log(), ReplicaNames(try await replica.members.list()))
    }
    guard !options.json else { return try options.console.lines(changes.map { $0.json(names).text }) }
    var table = TextTable([("TIME", .left), ("WHAT", .left), ("NAME", .left), ("REPLICA", .left), ("BY", .left)])
    for change in changes {
      let time = Format.time(milliseconds: change.milliseconds)
      table.add([time, change.kind.rawValue, change.name, "\(change.replica)", names.name(change.issuer)])
    }
    try await options.console.pages(table.lines)
  }
}

extension Member.Change {
  /// `laptop removed by desk`.
  func text(_ names: ReplicaNames) -> String {
    let what = formerName.map { "\($0.isEmpty ? "\(replica)" : $0) renamed to \(name)" } ?? "\(name) \(kind.rawValue)"
    return issuer == replica ? what : "\(what) by \(names.name(issuer))"
  }
}
