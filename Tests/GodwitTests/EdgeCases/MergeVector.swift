import Foundation
import GodwitBase
import GodwitCore

/// A file of Specs/vectors/merge: tables, replicas, what they do, and what must come of it.
struct MergeVector: Decodable, Sendable {
  let title: String
  /// The row of Specs/edge-cases.md.
  let row: Int
  /// Whether every order of hand-over within an exchange leads to the same.
  let anyOrder: Bool
  let tables: [TableDefinition]
  /// Replicas that declare their tables otherwise.
  let ownTables: [String: [TableDefinition]]
  /// In the order of their IDs.
  let replicas: [String]
  let steps: [VectorStep]

  private enum CodingKeys: CodingKey, CaseIterable { case title, row, anyOrder, tables, ownTables, replicas, steps }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    title = try fields.decode(String.self, forKey: .title)
    row = try fields.decode(Int.self, forKey: .row)
    anyOrder = try fields.decodeIfPresent(Bool.self, forKey: .anyOrder) ?? false
    tables = try fields.decode([VectorTable].self, forKey: .tables).map { try $0.definition() }
    ownTables = try (fields.decodeIfPresent([String: [VectorTable]].self, forKey: .ownTables) ?? [:])
      .mapValues { try $0.map { try $0.definition() } }
    replicas = try fields.decode([String].self, forKey: .replicas)
    steps = try fields.decode([VectorStep].self, forKey: .steps)
  }

  /// The column names of a table, key first.
  func columns(of table: String) -> [String] { tables.first { $0.name == table }?.columns.map(\.name) ?? [] }
}

/// A table as a vector declares it.
private struct VectorTable: Decodable {
  let name: String
  let key: [String]
  let columns: [VectorColumn]
  let unique: [[String]]
  let deletes: DeletePolicy

  private enum CodingKeys: CodingKey, CaseIterable { case name, key, columns, unique, deletes }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    name = try fields.decode(String.self, forKey: .name)
    key = try fields.decode([String].self, forKey: .key)
    columns = try fields.decode([VectorColumn].self, forKey: .columns)
    unique = try fields.decodeIfPresent([[String]].self, forKey: .unique) ?? []
    let names: [String: DeletePolicy] = ["editWins": .editWins, "deleteWins": .deleteWins]
    deletes = try fields.choice(.deletes, names) ?? .editWins
  }

  func definition() throws -> TableDefinition {
    guard columns.prefix(key.count).map(\.definition.name) == key else {
      throw GodwitError(.invalidSchema, "the key columns of \(name) do not come first")
    }
    return try TableDefinition(
      name: name, keyCount: key.count, columns: columns.map(\.definition),
      indexes: unique.map { IndexDefinition(columns: $0, isUnique: true) }, deletes: deletes)
  }
}

private struct VectorColumn: Decodable {
  let definition: ColumnDefinition

  private enum CodingKeys: String, CodingKey, CaseIterable {
    case name, type, nullable, references, check, merge
    case defaultValue = "default"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    let types: [String: ColumnType] = ["integer": .integer, "real": .real, "text": .text, "blob": .blob, "any": .any]
    let policies: [String: MergePolicy] = [
      "lastWriterWins": .lastWriterWins, "counter": .counter, "addWinsSet": .addWinsSet, "max": .maximum,
      "min": .minimum,
    ]
    definition = ColumnDefinition(
      name: try fields.decode(String.self, forKey: .name), type: try fields.choice(.type, types) ?? .any,
      isNullable: try fields.decodeIfPresent(Bool.self, forKey: .nullable) ?? false,
      defaultValue: try fields.decodeIfPresent(VectorValue.self, forKey: .defaultValue)?.value,
      reference: try fields.decodeIfPresent(VectorReference.self, forKey: .references)?.reference,
      check: try fields.decodeIfPresent(String.self, forKey: .check),
      merge: try fields.choice(.merge, policies) ?? .lastWriterWins)
  }
}

private struct VectorReference: Decodable {
  let reference: Reference

  private enum CodingKeys: CodingKey, CaseIterable { case table, onDelete, acyclic }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    let actions: [String: DeleteAction] = ["restrict": .restrict, "cascade": .cascade, "setNull": .setNull]
    reference = Reference(
      table: try fields.decode(String.self, forKey: .table),
      onDelete: try fields.choice(.onDelete, actions) ?? .restrict,
      isAcyclic: try fields.decodeIfPresent(Bool.self, forKey: .acyclic) ?? false)
  }
}

extension KeyedDecodingContainer {
  /// One of several words; nil when the field is missing.
  func choice<Output>(_ key: Key, _ words: [String: Output]) throws -> Output? {
    guard let word = try decodeIfPresent(String.self, forKey: key) else { return nil }
    guard let output = words[word] else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "\(word) is none of \(words.keys.sorted())")
    }
    return output
  }
}
