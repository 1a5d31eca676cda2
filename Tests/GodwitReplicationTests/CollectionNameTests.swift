import GodwitReplication
import Testing

@Suite("Names of collections and members in SQL")
struct CollectionNameTests {
  private static let names = [
    "name", "Name", "NAME", "createdAt", "createdat", "$a", "A", "$A", "$$", "$", "_key", "_Key", "$_key", "_expires",
    "a$_counter", "a$_set", "x$", "$_counter", "é", "e\u{301}", "\u{212A}", "k", "K", "İ", "i", "0", "$0.", "\u{0}", "\u{7F}", " ",
    "\"", "'", "日本", "🐦", "a.b", "$233.", "é$",
  ]

  @Test("no two names are written alike, even where SQL does not tell capitals from small letters")
  func distinct() throws {
    var written: Set<String> = []
    for name in Self.names {
      for kind in CollectionTable.Kind.allCases {
        let column = try CollectionTable.column(of: name, kind)
        #expect(column.utf8.allSatisfy { (0x20..<0x7F).contains($0) && !(0x41...0x5A).contains($0) }, "\(column)")
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
    for column in ["A", "$", "$A", "$233", "$065.", "$65.", "$1114112.", "é", "$_counter", "$_x", "", "a$-"] {
      #expect(CollectionTable.member(of: column) == nil, "\(column)")
    }
    for table in ["documents_", "documents_A", "Documents_a", "document_a"] {
      #expect(CollectionTable.collection(of: table) == nil, "\(table)")
    }
  }

  @Test("a table's definition follows from its names, and any other of such a name is refused")
  func definition() throws {
    let definition = try #require(try CollectionTable.definition("documents_c", members: ["a", "n$_counter", "s$_set"]))
    #expect(definition.columns.map(\.merge) == [.lastWriterWins, .lastWriterWins, .lastWriterWins, .counter, .addWinsSet])
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
