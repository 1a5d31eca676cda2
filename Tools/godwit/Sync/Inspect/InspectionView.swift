import Godwit
import ToolSupport

/// What `inspect` shows (Specs/cli.md, "inspect").
struct InspectionView {
  private let file: String
  private let inspection: SyncSource.Inspection
  private let names: ReplicaNames

  init(_ file: String, _ inspection: SyncSource.Inspection) {
    self.file = file
    self.inspection = inspection
    names = ReplicaNames(inspection.content?.members ?? [])
  }

  /// For people; each line is still to be made printable.
  var lines: [String] {
    let keys = inspection.stanzas.map { "\($0.count) × \($0.kind)" }.joined(separator: ", ")
    let outside = [
      "file        \(file)",
      "size        \(Format.byteSize(inspection.bytes)), \(inspection.headerBytes) bytes of them age header",
      "sealed to   \(keys)" + (inspection.isArmored ? "; armored, which import refuses" : ""),
    ]
    guard let content = inspection.content else { return outside + ["content     no key here opens it"] }
    return outside + lines(content)
  }

  private func lines(_ content: SyncSource.Inspection.Content) -> [String] {
    let recipients = content.recipients.map { recipient in
      recipient.replica.map(names.name) ?? "somebody unknown (\(recipient.fingerprint))"
    }
    let tables = content.tables.map { table in
      table.changes.text + (content.isStateFile ? " \(Format.count(table.rows, "row"))" : "")
    }
    let fields = content.unknownFields.isEmpty ? "" : ", and fields of a later one: \(content.unknownFields)"
    let sizes = content.sizes
    let packing = "\(Format.byteSize(sizes.packed)) packed, \(Format.byteSize(sizes.unpacked)) unpacked"
    let transactions = Format.count(content.transactions, "transaction")
    return [
      "format      \(content.formatVersion)\(fields)",
      "group       \(content.group)\(content.isOwnGroup ? "" : ", not this replica's")",
      "from        \(names.name(content.sender)) (\(content.sender), incarnation \(content.incarnation))",
      "made        \(Format.time(milliseconds: content.milliseconds))",
      "for         \(recipients.joined(separator: ", "))",
      "carries     \(content.isStateFile ? "the whole state and " : "")\(transactions)",
      "ranges      \(list(content.ranges.map { "\(names.name($0.replica)) \($0.text)\($0.isSigned ? "" : " (NOT SIGNED by its author)")" }))",
      "tables      \(list(tables))",
      "schema      version \(content.schemaVersion), \(Format.count(content.migrations, "migration"))",
      "applied     \(list(content.applied.map(text)))",
      "waiting     \(list(content.waiting.map(text)))",
      "acknowledgements  \(list(content.acknowledgements.map(text)))",
      "container   \(Format.byteSize(sizes.container)), \(Format.byteSize(sizes.header)) of them header",
      "frames      \(sizes.frames), \(packing)",
      "signature   \(content.signature.text)",
    ]
  }

  private func text(_ position: SyncSource.Inspection.Position) -> String {
    "\(names.name(position.replica)) \(position.sequence)"
  }

  private func text(_ acknowledgement: SyncSource.Inspection.Acknowledgement) -> String {
    names.name(acknowledgement.replica) + (acknowledgement.isSigned ? "" : " (NOT SIGNED by a member known here)")
  }

  private func list(_ words: [String]) -> String { words.isEmpty ? "nothing" : words.joined(separator: ", ") }

  var json: JSONValue {
    let outside: [(String, JSONValue)] = [
      ("file", .string(file)), ("bytes", .number(inspection.bytes)), ("headerBytes", .number(inspection.headerBytes)),
      ("armored", .bool(inspection.isArmored)),
      ("stanzas", .array(inspection.stanzas.map { ["kind": .string($0.kind), "count": .number($0.count)] })),
      ("opens", .bool(inspection.content != nil)),
    ]
    return .object(outside + (inspection.content.map(members) ?? []))
  }

  private func members(_ content: SyncSource.Inspection.Content) -> [(String, JSONValue)] {
    [
      ("format", .number(content.formatVersion)),
      ("unknownFields", .array(content.unknownFields.map { .number(Int($0)) })),
      ("group", .string("\(content.group)")), ("ownGroup", .bool(content.isOwnGroup)),
      ("sender", .object(names.json(content.sender) + [("incarnation", .string("\(content.incarnation)"))])),
      ("made", .string(Format.time(milliseconds: content.milliseconds))),
      ("recipients", .array(content.recipients.map(json))), ("stateFile", .bool(content.isStateFile)),
      ("transactions", .number(content.transactions)), ("ranges", .array(content.ranges.map(json))),
      ("tables", .array(content.tables.map(json))), ("schemaVersion", .number(content.schemaVersion)),
      ("migrations", .number(content.migrations)), ("applied", .array(content.applied.map(json))),
      ("waiting", .array(content.waiting.map(json))),
      ("forgotten", .array(content.forgotten.map(json))),
      ("acknowledgements", .array(content.acknowledgements.map(json))),
      ("containerBytes", .number(content.sizes.container)),
      ("containerHeaderBytes", .number(content.sizes.header)), ("frames", .number(content.sizes.frames)),
      ("packedBytes", .number(content.sizes.packed)), ("unpackedBytes", .number(content.sizes.unpacked)),
      ("signature", .string(content.signature.rawValue)),
    ]
  }

  private func json(_ recipient: SyncSource.Inspection.Recipient) -> JSONValue {
    let member = recipient.replica.map(names.json) ?? [("replica", nil), ("name", nil)]
    return .object(member + [("fingerprint", .string(recipient.fingerprint))])
  }

  private func json(_ range: SyncSource.Inspection.Range) -> JSONValue {
    .object(
      names.json(range.replica) + [
        ("incarnation", .string("\(range.incarnation)")), ("first", .number(range.sequences.lowerBound)),
        ("last", .number(range.sequences.upperBound)), ("signed", .bool(range.isSigned)),
      ])
  }

  private func json(_ position: SyncSource.Inspection.Position) -> JSONValue {
    .object(
      names.json(position.replica) + [
        ("incarnation", .string("\(position.incarnation)")), ("sequence", .number(position.sequence)),
      ])
  }

  private func json(_ acknowledgement: SyncSource.Inspection.Acknowledgement) -> JSONValue {
    .object(
      names.json(acknowledgement.replica) + [
        ("incarnation", .string("\(acknowledgement.incarnation)")),
        ("made", .string(Format.time(milliseconds: acknowledgement.milliseconds))),
        ("applied", .array(acknowledgement.applied.map(json))), ("signed", .bool(acknowledgement.isSigned)),
      ])
  }

  private func json(_ table: SyncSource.Inspection.Table) -> JSONValue {
    guard case .object(let changes) = table.changes.json else { return nil }
    return .object(changes + [("rows", .number(table.rows))])
  }
}

extension SyncSource.Inspection.Range {
  /// `5–9`.
  fileprivate var text: String {
    sequences.count == 1 ? "\(sequences.lowerBound)" : "\(sequences.lowerBound)–\(sequences.upperBound)"
  }
}

extension SyncSource.Inspection.Signature {
  fileprivate var text: String {
    switch self {
    case .verified: "verified: the sender's, who is a member"
    case .invalid: "INVALID: whoever can open the file may have made it"
    case .unknownSender: "unknown: the sender is no member known here"
    case .replacedKey: "old: the sender has replaced the key it was signed with"
    case .removedSender: "unknown: the sender was removed from the group"
    }
  }
}
