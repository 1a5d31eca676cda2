import Godwit

extension Member {
  /// Specs/cli.md, "member list".
  package var json: JSONValue {
    [
      "name": .string(name), "replica": .string("\(identity.replica)"), "active": .bool(isActive), "own": .bool(isOwn),
      "fingerprint": .string(identity.fingerprint), "words": .string(identity.fingerprintWords),
      "identity": .string("\(identity)"),
    ]
  }
}

extension Member.Change {
  /// Specs/cli.md, "member log".
  package func json(_ names: ReplicaNames) -> JSONValue {
    [
      "kind": .string(kind.rawValue), "replica": .string("\(replica)"), "name": .string(name),
      "formerName": formerName.map { .string($0) } ?? .null, "by": .object(names.json(issuer)),
      "time": .string(Format.time(milliseconds: milliseconds)),
    ]
  }
}
