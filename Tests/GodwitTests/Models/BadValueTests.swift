import Foundation
import Godwit
import Testing

/// A parent that may not go while children refer to it.
private struct Parent: Model {
  static let schema = Schema<Self>("parent") {
    Column("name", \.name).unique()
    Column("size", \.size).check("size >= 0")
    Column("ratio", \.ratio)
    Column("share", \.share)
  }
  var id = RecordID<Parent>()
  var name = ""
  var size: Int8 = 0
  var ratio = 0.0
  var share: Float = 0
}

private struct Child: Model {
  static let schema = Schema<Self>("child") {
    Column("parent", \.parent).references(Parent.self, onDelete: .restrict)
    Column("words", \.words)
  }
  var id = RecordID<Child>()
  var parent: Parent.ID?
  var words: [String] = []
}

@Suite("A bad value")
struct BadValueTests {
  private let folder: TemporaryFolder
  private let replica: Replica
  private let parent = Parent(name: "taken by somebody")

  init() async throws {
    folder = try TemporaryFolder()
    replica = try await Replica.open(at: folder.file("replica"), models: Parent.self, Child.self)
    let parent = parent
    try await replica.write { transaction in
      try transaction.insert(parent)
      try transaction.insert(Child(parent: parent.id))
    }
  }

  /// The write fails with this code and this message, and leaves nothing of its transaction.
  private func expect(
    _ code: GodwitError.Code, _ message: String, at location: SourceLocation = #_sourceLocation,
    _ write: @escaping @Sendable (Transaction) throws -> Void
  ) async throws {
    let before = try await replica.maintenance.digest()
    do {
      try await replica.write { transaction in
        try transaction.insert(Parent(name: "goes back with the transaction"))
        try write(transaction)
      }
      Issue.record("the write was accepted", sourceLocation: location)
    } catch let error as GodwitError {
      #expect(error.code == code, sourceLocation: location)
      #expect(error.message == message, sourceLocation: location)
    }
    #expect(try await replica.maintenance.digest() == before, sourceLocation: location)
  }

  @Test("a text that only begins with a number is no Decimal")
  func decimalText() {
    for text in ["1,234.50", "eleven", " ", "", "10 EUR", ".", "+", "1e", "1e+", "0x10", "1 "] {
      #expect(Decimal(wholeText: text) == nil, "\(text)")
    }
    for text in ["0", "-12.50", "+.5", "5.", "1e3", "1.5E-2"] { #expect(Decimal(wholeText: text) != nil, "\(text)") }
  }

  @Test("that breaks a unique column names table and column, not the value")
  func unique() async throws {
    try await expect(.constraint, "UNIQUE constraint failed: parent.name") {
      try $0.insert(Parent(name: "taken by somebody"))
    }
  }

  @Test("that breaks a check names table and column")
  func check() async throws {
    try await expect(.constraint, "CHECK constraint failed: parent.size") { try $0.insert(Parent(name: "x", size: -1)) }
  }

  @Test("that leaves out what must be there names table and column")
  func notNull() async throws {
    try await expect(.constraint, "NOT NULL constraint failed: parent.name") {
      _ = try $0.execute("UPDATE parent SET name = NULL")
    }
  }

  @Test("that refers to no row names the column and the table it refers to")
  func dangling() async throws {
    try await expect(.constraint, "FOREIGN KEY constraint failed: child.parent refers to no row of parent") {
      try $0.insert(Child(parent: RecordID()))
    }
  }

  @Test("to delete a row that others refer to names their column")
  func restricted() async throws {
    let parent = parent
    try await expect(
      .constraint, "FOREIGN KEY constraint failed: rows may refer to this row of parent in child.parent"
    ) { try $0.delete(parent) }
  }

  @Test("that is not a number is refused")
  func notANumber() async throws {
    try await expect(.valueNotStorable, "NaN cannot be stored") { try $0.insert(Parent(name: "x", ratio: .nan)) }
  }

  @Test("stored by other means is valueMismatch when read: out of range, no JSON, not UTF-8, another class")
  func mismatches() async throws {
    for (assignment, code) in [
      ("UPDATE parent SET size = 300", GodwitError.Code.valueMismatch),
      ("UPDATE child SET words = '[1'", .valueMismatch),
      ("UPDATE parent SET size = 0, ratio = 'much'", .valueMismatch),
      ("UPDATE parent SET ratio = 0, share = 1e300", .valueMismatch),
      ("UPDATE parent SET share = -1e300", .valueMismatch),
    ] {
      let replica = replica
      try await replica.write { _ = try $0.execute(SQL(text: assignment)) }
      let isParent = assignment.contains("parent SET")
      #expect(
        await GodwitTests.code {
          if isParent { _ = try await replica.fetch(Parent.all) } else { _ = try await replica.fetch(Child.all) }
        } == code)
    }
    try await expect(.valueNotStorable, "a text is not UTF-8") {
      _ = try $0.execute("UPDATE parent SET name = CAST(x'ff' AS TEXT)")
    }
  }
}
