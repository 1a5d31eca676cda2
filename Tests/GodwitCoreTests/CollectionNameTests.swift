import GodwitCore
import Testing

@Suite("Names of collections and members in SQL")
struct CollectionNameTests {
  private static let names = [
    "name", "Name", "NAME", "createdAt", "createdat", "$a", "A", "$A", "$$", "$", "_key", "_Key", "$_key", "_expires",
    "a$_counter", "a$_set", "x$", "$_counter", "é", "e\u{301}", "\u{212A}", "k", "K", "İ", "i", "0", "$0.", "\u{0}",
    "\u{7F}", " ",
    "\"", "'", "日本", "🐦", "a.b", "$233.", "$233_", "é$", "a-b", "a/b", "[a]", "\\", "\u{202E}", "\u{9B}",
  ]

  @Test("no two names are written alike, even where SQL does not distinguish capitals from small letters")
  func distinct() throws {
    var written: Set<String> = []
    for name in Self.names {
      for kind in CollectionTable.Kind.allCases {
        let column = try CollectionTable.column(of: name, kind)
        let plain = Set("abcdefghijklmnopqrstuvwxyz0123456789_ -$".utf8)
        #expect(column.utf8.allSatisfy(plain.contains), "\(column)")
        #expect(written.insert(column).inserted, "\(name) is written as another name: \(column)")
        let back = try #require(CollectionTable.member(of: column), "\(column)")
        #expect(back.name.unicodeScalars.elementsEqual(name.unicodeScalars) && back.kind == kind)
      }
      let table = try CollectionTable.name(of: name)
      let back = try #require(CollectionTable.collection(of: table))
      #expect(back.unicodeScalars.elementsEqual(name.unicodeScalars))
    }
  }

  @Test("what is not written by these rules is the name of nothing")
  func foreign() {
    for column in [
      "A", "$", "$A", "$233", "$065_", "$65_", "$1114112_", "é", "$_counter", "$_x", "", "a$-", "\"", "a.b", "$233.",
      "$97_",
      "$36_", "$45_",
    ] {
      #expect(CollectionTable.member(of: column) == nil, "\(column)")
    }
    for table in ["documents_", "documents_A", "Documents_a", "document_a"] {
      #expect(CollectionTable.collection(of: table) == nil, "\(table)")
    }
  }

  @Test("a table's definition follows from its names, and any other of such a name is refused")
  func definition() throws {
    let definition = try #require(
      try CollectionTable.definition("documents_c", members: ["a", "n$_counter", "s$_set"]))
    #expect(
      definition.columns.map(\.merge) == [.lastWriterWins, .lastWriterWins, .lastWriterWins, .counter, .addWinsSet])
    #expect(try CollectionTable.definition("documents_c", members: ["A"]) == nil)
    #expect(throws: (any Error).self) {
      try TableDefinition(
        name: "documents_c", keyCount: 1,
        columns: definition.columns.dropLast() + [ColumnDefinition(name: "a2", type: .integer, isNullable: true)])
    }
    #expect(throws: (any Error).self) {
      try TableDefinition(name: "Documents_C", keyCount: 1, columns: definition.columns)
    }
  }
}
