import Godwit

extension HeldVersion {
  /// `schema version 3 "places"`.
  package var title: String { "schema version \(version) \"\(name)\"" }

  /// `2 transactions wait
  /// for schema version 3 "places", which came with a file of laptop: update the program, or run godwit migrate`.
  package func text(_ names: ReplicaNames) -> String {
    let waiting = transactions == 1 ? "1 transaction waits" : "\(transactions) transactions wait"
    let bringer = broughtBy.map { ", which came with a file of \(names.name($0))" } ?? ""
    return Format.printable("\(waiting) for \(title)\(bringer): update the program, or run godwit migrate")
  }

  /// Specs/cli.md, "status".
  package func json(_ names: ReplicaNames) -> JSONValue {
    [
      "version": .number(version), "name": .string(name), "transactions": .number(transactions),
      "broughtBy": broughtBy.map { .object(names.json($0)) } ?? .null,
    ]
  }
}
