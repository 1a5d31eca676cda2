import Foundation
import Godwit
import GodwitBase
import GodwitKeys

/// One file of Specs/vectors/container: a sealed file, who reads it, and what that gives.
struct ContainerVector: Codable {
  struct Recipient: Codable, Equatable {
    let replica: String?
    let fingerprint: String
  }

  struct Range: Codable, Equatable {
    let replica: String
    let incarnation: String
    let first: UInt64
    let last: UInt64
  }

  struct Operation: Codable, Equatable {
    let kind: String
    let table: String
    /// Each value as SQLite writes it: `x'00'`, `'text'`, `1`.
    let key: [String]
    let cells: [String: String]
  }

  struct Transaction: Codable, Equatable {
    let replica: String
    let sequence: UInt64
    let milliseconds: Int64
    let operations: [Operation]
  }

  struct Acknowledgement: Codable, Equatable {
    struct Position: Codable, Equatable {
      let replica: String
      let incarnation: String
      let sequence: UInt64
    }

    let replica: String
    let incarnation: String
    let milliseconds: Int64
    let held: [Position]
    let signed: Bool
  }

  struct Content: Codable, Equatable {
    let sender: String
    let incarnation: String
    let milliseconds: Int64
    let stateFile: Bool
    let recipients: [Recipient]
    let ranges: [Range]
    let transactions: [Transaction]
    /// Rows of a state file, by table.
    let rows: [String: Int]
    /// Nil when there are none.
    let acknowledgements: [Acknowledgement]?
    let unknownFields: [UInt32]
    let containerBytes: Int
    /// The active members by their IDs, as the reader calls them after the file; nil where it is not about them.
    var names: [String: String]?
  }

  let title: String
  /// The reader's private identity, hexadecimal.
  let identity: String
  /// Those that it had before, the latest first; nil for none.
  var former: [String]?
  let group: String
  /// The member records that the reader trusts, hexadecimal.
  let members: [String]
  /// The sealed file, hexadecimal; one in all.
  let files: [String]
  var content: Content?
  var error: String?
}

extension ContainerVector.Content {
  init(_ inspection: SyncSource.Inspection, _ transactions: [LoggedTransaction]) throws {
    guard let content = inspection.content else { throw GodwitError(.notARecipient, "no key fits") }
    sender = "\(content.sender)"
    incarnation = "\(content.incarnation)"
    milliseconds = content.milliseconds
    stateFile = content.isStateFile
    recipients = content.recipients.map { .init(replica: $0.replica.map { "\($0)" }, fingerprint: $0.fingerprint) }
    ranges = content.ranges.map {
      .init(
        replica: "\($0.replica)", incarnation: "\($0.incarnation)", first: $0.sequences.lowerBound,
        last: $0.sequences.upperBound)
    }
    self.transactions = transactions.map { transaction in
      .init(
        replica: "\(transaction.entry.replica)", sequence: transaction.entry.sequence,
        milliseconds: transaction.entry.milliseconds, operations: transaction.operations.map(\.vector))
    }
    rows = Dictionary(uniqueKeysWithValues: content.tables.filter { $0.rows > 0 }.map { ($0.changes.table, $0.rows) })
    let acknowledgements = content.acknowledgements.map { acknowledgement in
      ContainerVector.Acknowledgement(
        replica: "\(acknowledgement.replica)", incarnation: "\(acknowledgement.incarnation)",
        milliseconds: acknowledgement.milliseconds,
        held: acknowledgement.applied.map {
          .init(replica: "\($0.replica)", incarnation: "\($0.incarnation)", sequence: $0.sequence)
        }, signed: acknowledgement.isSigned)
    }
    self.acknowledgements = acknowledgements.isEmpty ? nil : acknowledgements
    unknownFields = content.unknownFields
    containerBytes = content.sizes.container
    names = Dictionary(
      uniqueKeysWithValues: content.members.filter(\.isActive).map { ("\($0.identity.replica)", $0.name) })
  }
}

extension LoggedTransaction.Operation {
  fileprivate var vector: ContainerVector.Operation {
    ContainerVector.Operation(
      kind: kind.rawValue, table: table, key: key.map(\.literal),
      cells: Dictionary(uniqueKeysWithValues: cells.map { ($0.column, $0.value.literal) }))
  }
}

extension Value {
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "'\(text)'"
    case .blob(let bytes): "x'\(Hexadecimal.encode(bytes))'"
    }
  }
}

/// A reader as a vector describes it, in a folder of its own.
struct VectorReader {
  let folder: TemporaryFolder
  let path: String
  let source: SyncSource

  init(_ vector: ContainerVector) throws {
    folder = try TemporaryFolder()
    path = folder.file("replica")
    func bytes(_ text: String) throws -> [UInt8] {
      guard let bytes = Hexadecimal.decode(text) else { throw GodwitError(.invalidArgument, "no hexadecimal digits") }
      return bytes
    }
    func identity(_ text: String) throws -> Identity {
      var reader = ByteReader(try bytes(text))
      return try Identity(reading: &reader)
    }
    // From the first to the present one.
    let identities = try (vector.former ?? []).reversed().map(identity) + [identity(vector.identity)]
    let members = try vector.members.map { text in
      var record = ByteReader(try bytes(text))
      return try MemberRecord(reading: &record)
    }
    guard let group = Identifier128(hexadecimal: vector.group) else { throw GodwitError(.invalidArgument, "no group") }
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var contents = KeyringContents(identity: identities[0], group: GroupID(group), members: members)
    for next in identities.dropFirst() { try contents.replaceIdentity(by: next) }
    try Keyring.create(
      at: KeyringLocation(keyring: "\(path)/keyring", machineKey: "\(path)/machine.key"), contents: contents)
    guard vector.files.count == 1 else { throw GodwitError(.invalidArgument, "not one file") }
    try Data(bytes(vector.files[0])).write(to: URL(fileURLWithPath: folder.file("file")))
    source = .file(folder.file("file"))
  }
}
