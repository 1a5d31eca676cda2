import Godwit

/// What people call the replicas of a group.
package struct ReplicaNames {
  private let names: [ReplicaID: String]
  /// Replicas of which more than one incarnation is named: copies of a folder go by one name.
  private var copied: Set<ReplicaID> = []

  package init(_ members: [Member]) {
    names = Dictionary(members.map { ($0.identity.replica, $0.name) }, uniquingKeysWith: { first, _ in first })
  }

  /// The member's name, or the first digits of the ID of a replica that is not known.
  package func name(_ replica: ReplicaID) -> String { names[replica] ?? String("\(replica)".prefix(8)) }

  /// The same, with the incarnation where it is to be distinguished from another: `laptop/2`.
  package func name(_ replica: ReplicaID, _ incarnation: Incarnation.ID) -> String {
    copied.contains(replica) ? "\(name(replica))/\(incarnation)" : name(replica)
  }

  /// Distinguishes the incarnations of a replica where there are several among these.
  package func tellingApart(_ writers: [(replica: ReplicaID, incarnation: Incarnation.ID)]) -> ReplicaNames {
    var names = self
    let incarnations = Dictionary(grouping: writers, by: \.replica).mapValues { Set($0.map(\.incarnation)) }
    names.copied = Set(incarnations.filter { $0.value.count > 1 }.keys)
    return names
  }

  /// `laptop, transaction 7, 2026-01-31T09:30:00.250Z`.
  package func text(_ author: Authorship?) -> String {
    guard let author else { return "a write older than all that is remembered" }
    let time = author.milliseconds.map { ", \(Format.time(milliseconds: $0))" } ?? ""
    let transaction = author.sequence == 0 ? "not logged" : "transaction \(author.sequence)"
    return "\(name(author.replica, author.incarnation)), \(transaction)\(time)"
  }

  /// Specs/cli.md, "JSON": an author. All null for a write that is not remembered.
  package func json(_ author: Authorship?) -> [(String, JSONValue)] {
    guard let author else { return ["replica", "name", "incarnation", "sequence", "time"].map { ($0, nil) } }
    return json(author.replica) + [
      ("incarnation", .string("\(author.incarnation)")), ("sequence", .number(author.sequence)),
      ("time", author.milliseconds.map { .string(Format.time(milliseconds: $0)) } ?? nil),
    ]
  }

  /// The ID, with the name of a member that is known.
  package func json(_ replica: ReplicaID) -> [(String, JSONValue)] {
    [("replica", .string("\(replica)")), ("name", names[replica].map { .string($0) } ?? nil)]
  }
}

extension Replica {
  /// The replica that a person means. One named by its whole ID need be no member.
  package func replicaID(named text: String) async throws -> ReplicaID {
    if let id = ReplicaID(text) { return id }
    return try await members.member(named: text).identity.replica
  }
}

extension ReplicaNames {
  /// `laptop 5–9`.
  package func text(_ replica: ReplicaID, _ sequences: ClosedRange<UInt64>) -> String {
    let range =
      sequences.count == 1 ? "\(sequences.lowerBound)" : "\(sequences.lowerBound)–\(sequences.upperBound)"
    return "\(name(replica)) \(range)"
  }

  package func json(_ replica: ReplicaID, _ sequences: ClosedRange<UInt64>) -> [(String, JSONValue)] {
    json(replica) + [("first", .number(sequences.lowerBound)), ("last", .number(sequences.upperBound))]
  }
}

extension ReplicaNames {
  /// What is said of a member whose tables hold something else.
  package func differing(_ replica: ReplicaID) -> String {
    Format.printable("\(name(replica)) states another state for the same changes; run on both: godwit verify")
  }

  /// What is said of a member of which more than one incarnation may live.
  package func copied(_ replica: ReplicaID) -> String {
    Format.printable(
      "more than one database of \(name(replica)) may be in use, and history is kept for each: godwit member incarnations"
    )
  }

  package func forked(_ fork: Replica.Status.Fork) -> String {
    Format.printable(
      "\(name(fork.replica)) has two histories from transaction \(fork.sequence) on, and \(name(fork.shownBy)) holds the other"
    )
  }
}
