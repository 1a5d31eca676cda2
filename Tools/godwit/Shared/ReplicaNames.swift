import Godwit
import ToolSupport

/// What people call the replicas of a group.
struct ReplicaNames {
  private let names: [ReplicaID: String]

  init(_ members: [Member]) {
    names = Dictionary(members.map { ($0.identity.replica, $0.name) }, uniquingKeysWith: { first, _ in first })
  }

  /// The member's name, or the first digits of the ID of a replica that is not known.
  func name(_ replica: ReplicaID) -> String { names[replica] ?? String("\(replica)".prefix(8)) }

  /// The ID, with the name of a member that is known.
  func json(_ replica: ReplicaID) -> [(String, JSONValue)] {
    [("replica", .string("\(replica)")), ("name", names[replica].map { .string($0) } ?? nil)]
  }
}

extension MergeReport.Missing {
  /// `laptop 5–9`.
  func text(_ names: ReplicaNames) -> String {
    let range =
      sequences.count == 1 ? "\(sequences.lowerBound)" : "\(sequences.lowerBound)–\(sequences.upperBound)"
    return "\(names.name(replica)) \(range)"
  }

  /// Specs/cli.md, "Missing".
  func json(_ names: ReplicaNames) -> JSONValue {
    .object(
      names.json(replica) + [("first", .number(sequences.lowerBound)), ("last", .number(sequences.upperBound))])
  }
}
