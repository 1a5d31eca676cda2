import Foundation
import GodwitBase
import GodwitCore

/// The JSON form of migrations (Specs/migration-forms.md, "Migration file"). What the form does not name is refused.
package struct MigrationFile: Codable {
  static let format = "godwit migrations 1"
  package static let byteLimit = 16 << 20

  var format = Self.format
  var migrations: [Entry]

  struct Entry: Codable {
    var version: UInt64
    var name: String
    /// Whether it is declared to be an addition; another is refused then.
    var addition: Bool?
    var steps: [Step]
  }

  /// Every step's members together; which of them a step has is said by ``members``.
  struct Step: Codable {
    var step: String
    var table: String?
    var to: String?
    var column: String?
    var definition: Column?
    var definitions: [Column]?
    var keyCount: Int?
    var synced: Bool?
    var numbersKeys: Bool?
    var deletes: String?
    var indexes: [Index]?
    var columns: [String]?
    var unique: Bool?
    var from: String?
    var by: String?
    var `as`: String?
    var name: String?
    var statements: [Statement]?
    var code: Bool?
    /// Of a data step that is known by its name and checksum alone.
    var sha256: String?
  }

  struct Column: Codable {
    var name: String
    var type: String
    var optional: Bool?
    var `default`: Constant?
    var references: Reference?
    var check: String?
    var merge: String?
  }

  struct Reference: Codable {
    var table: String
    var onDelete: String
    var acyclic: Bool?
  }

  struct Index: Codable {
    var columns: [String]
    var unique: Bool
  }

  struct Statement: Codable {
    var sql: String
    var values: [Constant]?
  }

  /// A value with its storage class; numbers are text, so that no JSON reader rounds them. NULL has none.
  struct Constant: Codable {
    var integer: String?
    var real: String?
    var text: String?
    var blob: String?
  }

  init(_ migrations: [SchemaMigration]) {
    self.migrations = migrations.map { migration in
      Entry(
        version: migration.version, name: migration.name,
        steps: migration.steps.map { Step(StepDraft($0)) })
    }
  }

  package init(_ migrations: Migrations) throws {
    // Checked, and then with the SQL of data steps, which the checked form does not have.
    self.migrations = try zip(migrations.schemaMigrations(), migrations.all).map { data, migration in
      Entry(
        version: data.version, name: data.name, addition: migration.isDeclaredAddition ? true : nil,
        steps: try migration.steps.map { Step(try $0()) })
    }
  }

  package init(json: [UInt8]) throws {
    guard json.count <= Self.byteLimit else {
      throw GodwitError(.limitExceeded, "a migration file is larger than \(Self.byteLimit) bytes")
    }
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(json))
      try Self.checkMembers(JSONSerialization.jsonObject(with: Data(json)), "root")
    } catch let error as DecodingError {
      throw Self.malformed(Self.misfit(in: json) ?? Self.place(of: error))
    } catch let error where !(error is GodwitError) {
      // JSONSerialization refuses what JSONDecoder lets pass in members that it does not look at.
      throw Self.malformed("it is no JSON")
    }
    guard format == Self.format else {
      throw GodwitError(.unsupportedVersion, "the migration file is of a form that this version does not read")
    }
  }

  package func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [0x0A]
  }

  func schemaMigrations() throws -> [SchemaMigration] {
    try migrations.map { entry in
      SchemaMigration(version: entry.version, name: entry.name, steps: try entry.steps.map { try $0.draft().step })
    }
  }

  package func programMigrations() throws -> [Migration] {
    try migrations.map { entry in
      Migration(entry.version, entry.name, try entry.steps.map { try $0.draft() }, isAddition: entry.addition ?? false)
    }
  }

  // MARK: Strictness

  /// The members of each kind of object, and what kind of objects stand in them. A step's are those of its kind.
  private static let members: [String: [String: String]] = [
    "root": ["format": "", "migrations": "migration"],
    "migration": ["version": "", "name": "", "addition": "", "steps": "step"],
    "column": [
      "name": "", "type": "", "optional": "", "default": "constant", "references": "reference", "check": "",
      "merge": "",
    ],
    "reference": ["table": "", "onDelete": "", "acyclic": ""], "index": ["columns": "", "unique": ""],
    "statement": ["sql": "", "values": "constant"],
    "constant": ["integer": "", "real": "", "text": "", "blob": ""],
    "createTable": [
      "table": "", "definitions": "column", "keyCount": "", "synced": "", "numbersKeys": "", "deletes": "",
      "indexes": "index",
    ],
    "dropTable": ["table": ""], "renameTable": ["table": "", "to": ""],
    "addColumn": ["table": "", "definition": "column", "from": "", "by": "", "as": ""],
    "dropColumn": ["table": "", "column": ""], "renameColumn": ["table": "", "column": "", "to": ""],
    "changeColumn": ["table": "", "definition": "column", "by": "", "as": ""],
    "addIndex": ["table": "", "columns": "", "unique": ""], "dropIndex": ["table": "", "columns": ""],
    "startSync": ["table": ""], "stopSync": ["table": ""],
    "data": ["name": "", "statements": "statement", "code": "", "sha256": ""],
  ]

  private static func checkMembers(_ json: Any, _ kind: String) throws {
    if let list = json as? [Any] {
      for element in list { try checkMembers(element, kind) }
    } else if let object = json as? [String: Any] {
      let stepKind = kind == "step" ? object["step"] as? String ?? "" : kind
      guard let known = members[stepKind] else { throw malformed("there is no step \(stepKind)") }
      for (name, value) in object where !(kind == "step" && name == "step") {
        guard let inner = known[name] else { throw malformed("\(stepKind) has a member \(name)") }
        if !inner.isEmpty { try checkMembers(value, inner) }
      }
    }
  }

  static func malformed(_ what: String) -> GodwitError {
    GodwitError(
      .invalidMigration, "the migration file is not what it should be: \(what)",
      hint: "write one with: godwit migrate --print")
  }

  private static func place(of error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, let context): "\(path(context)) lacks \(key.stringValue)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context): "\(path(context)) is of another type"
    default: "it is no JSON"
    }
  }

  /// A number that is none of those counted by; JSONDecoder takes the whole text for no JSON then.
  private static func misfit(in json: [UInt8]) -> String? {
    guard let root = try? JSONSerialization.jsonObject(with: Data(json)) else { return nil }
    return misfit(in: root, at: "").map { "\($0) is no whole number from 0 on" }
  }

  private static func misfit(in json: Any, at path: String) -> String? {
    if let list = json as? [Any] {
      return list.enumerated().lazy.compactMap { misfit(in: $1, at: "\(path)[\($0)]") }.first
    }
    guard let object = json as? [String: Any] else { return nil }
    return object.sorted { $0.key < $1.key }.lazy.compactMap { name, value in
      let place = path.isEmpty ? name : "\(path).\(name)"
      if ["version", "keyCount"].contains(name), let number = value as? NSNumber {
        return UInt64(exactly: number.doubleValue) == nil ? place : nil
      }
      return misfit(in: value, at: place)
    }.first
  }

  private static func path(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    return path.isEmpty ? "it" : path
  }
}
