import GodwitBase

@testable import Godwit
@testable import GodwitEngine
@testable import GodwitCore

extension FuzzTarget {
  static let migrationTargets = [migration, migrationFile, names]

  /// A migration as replicas hand it to each other. It has one form, and can be written as JSON and read back.
  static let migration = FuzzTarget(name: "migration") { bytes in
    let migration = try SchemaMigration(bytes: bytes[...])
    try migration.requireDigestsOfCode()
    try require(migration.bytes == bytes, "a migration that is written again differs")
    _ = migration.lines
    try require(migration.difference(from: migration).allSatisfy { $0.hasPrefix("  ") }, "it differs from itself")
    try checkAsFile([migration])
  } starts: {
    Dictionary(
      uniqueKeysWithValues: try MigrationStarts.migrations().map { ("\($0.version)", $0.bytes) })
  }

  /// A migration file, which need not come in its one form, but has one.
  static let migrationFile = FuzzTarget(name: "migration-file") { bytes in
    let migrations = try MigrationFile(json: bytes).schemaMigrations()
    // The program has no use for what is not sound; whether that is so is judged, and must not fail in another way.
    guard try unlessRefused({ try Migrations(json: bytes) }) != nil else { return }
    try checkAsFile(migrations)
  } starts: {
    let migrations = try MigrationStarts.migrations()
    let text = String(decoding: try MigrationFile(migrations).json(), as: UTF8.self)
    let small = #"{"format":"godwit migrations 1","migrations":[{"version":1,"name":"a","steps":[]}]}"#
    return [
      "steps": Array(text.split(whereSeparator: \.isNewline).joined().replacing("  ", with: "").utf8),
      "small": Array(small.utf8),
      "drop": Array(small.replacing("[]", with: #"[{"step":"dropTable","table":"note"}]"#).utf8),
    ]
  }

  /// Names of collections in SQL, and expressions of checks and rules.
  static let names = FuzzTarget(name: "names") { bytes in
    if let name = CollectionName.read(bytes) {
      try require(Array(CollectionName.written(name).utf8) == bytes, "a name is written in two ways")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if !text.isEmpty {
      try require(
        CollectionName.read(CollectionName.written(text).utf8).map { $0.utf8.elementsEqual(text.utf8) } == true,
        "a written name reads as another")
    }
    if ExpressionLanguage.problem(of: text, over: "x") == nil,
      let problem = ExpressionLanguage.problem(of: "(\(text))", over: "x")
    {
      try require(
        ["nested", "words", "bytes"].contains(where: problem.contains),
        "an expression is none in parentheses: \(problem)")
    }
  } starts: {
    let texts = [
      "plain": "accounts", "capitals": "$a$b", "scalar": "$228_$128512_", "mark": "$$",
      "check": "length(x) > 3 AND ('a''b' <> x)",
      "case": "CASE WHEN x GLOB '[0-9]*' THEN CAST(x AS INTEGER) ELSE -1 END",
      "list": "x NOT IN (1, -2.5e3, x'00', NULL) OR x NOT BETWEEN 1 AND 0xFF",
      "quotes": "\"x\" LIKE '%a_' ESCAPE '!' AND x COLLATE NOCASE = 'a'",
      "calls": "coalesce(trim(x, ' '), ~instr(x, 'b')) || substr(x, 1, 2) IS NOT NULL",
    ]
    return texts.mapValues { Array($0.utf8) }
  }
}

/// What a file says of migrations is all there is to say.
private func checkAsFile(_ migrations: [SchemaMigration]) throws {
  let file = try MigrationFile(migrations).json()
  let again: [SchemaMigration]
  do {
    again = try MigrationFile(json: file).schemaMigrations()
  } catch let error as GodwitError {
    throw FuzzFault(description: "a migration file that was written is refused: \(error)")
  }
  try require(again.map(\.bytes) == migrations.map(\.bytes), "migrations that are written to a file and read differ")
}

/// Migrations to start from: every step.
private enum MigrationStarts {
  static func migrations() throws -> [SchemaMigration] {
    let title = ColumnDefinition(
      name: "title", type: .text, isNullable: false, defaultValue: "none", check: "length(title) < 9")
    let folder = ColumnDefinition(
      name: "folder", type: .blob, isNullable: true,
      reference: Reference(table: "note", onDelete: .setNull, isAcyclic: true))
    let note = try TableDefinition(
      name: "note", keyCount: 1,
      columns: [
        ColumnDefinition(name: "id", type: .blob, isNullable: false), title, folder,
        ColumnDefinition(name: "views", type: .integer, isNullable: false, defaultValue: 0, merge: .counter),
        ColumnDefinition(name: "price", type: .real, isNullable: true, defaultValue: 2.5, merge: .custom("best")),
      ], indexes: [IndexDefinition(columns: ["title"], isUnique: true)], deletes: .deleteWins)
    return [
      SchemaMigration(version: 1, name: "tables", steps: [.createTable(note), .setSynced(false, table: "note")]),
      SchemaMigration(
        version: 2, name: "columns",
        steps: [
          .addColumn(title, table: "note", from: .init(column: "id", rule: .expression("lower(id)"))),
          .addColumn(folder, table: "note", from: nil), .changeColumn(title, table: "note", rule: .widen(to: .any)),
          .renameColumn("title", to: "name", table: "note"), .dropColumn("views", table: "note"),
          .addIndex(IndexDefinition(columns: ["name", "id"], isUnique: false), table: "note"),
          .dropIndex(["name", "id"], table: "note"), .renameTable("note", to: "paper"), .dropTable("paper"),
        ]),
      SchemaMigration(
        version: 3, name: "data",
        steps: [
          .data(.init(name: "titles", isCode: false, digest: Array(0..<32))),
          .data(.init(name: "code", isCode: true, digest: SchemaStep.DataWork.digest(ofCode: "code"))),
        ]),
    ]
  }
}
