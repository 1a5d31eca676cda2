import Foundation
import Godwit
import Testing

private struct Hidden: Model {
  static let schema = Schema<Self>("hidden") { Column("id", \.number) }
  var id = RecordID<Hidden>()
  var number = 0
}

private struct SameType: Model {
  static let schema = Schema<Self>("same_type") { Column("id", \.number) }
  var id = 0
  var number = 0
}

private struct Doubled: Model {
  static let schema = Schema<Self>("doubled") {
    Column("a", \.number)
    Column("b", \.number)
  }
  var id = 0
  var number = 0
}

private struct First: Model {
  static let schema = Schema<Self>("shared") { Column("number", \.number) }
  var id = 0
  var number = 0
}

private struct Second: Model {
  static let schema = Schema<Self>("SHARED") { Column("number", \.number) }
  var id = 0
  var number = 0
}

private struct Emptied: Model {
  static let schema = Schema<Self>("emptied") {
    Column("first", \.first).references(First.self, onDelete: .setNull)
  }
  var id = 0
  var first = 0
}

/// A computed key, whose column is that of another property.
private struct Computed: Model {
  static let schema = Schema<Self>("computed", key: "code") { Column("code", \.code) }
  var code = "x"
  var id: String {
    get { code }
    set { code = newValue }
  }
}

@Suite("A schema is refused")
struct InvalidSchemaTests {
  private func failure(_ models: any Model.Type...) async throws -> GodwitError? {
    let folder = try TemporaryFolder()
    let failure = await error { try await ReplicaPair.open(folder.file("replica"), models, TestClock()) }
    return failure?.code == .invalidSchema && failure?.hint != nil ? failure : nil
  }

  @Test("when a column under the key's name stores another property")
  func hiddenKey() async throws {
    #expect(
      try await failure(Hidden.self)?.message
        == "table hidden has a column id under the name of the key, which stores another property than id")
    #expect(try await failure(SameType.self)?.message.hasPrefix("table same_type has a column id") == true)
  }

  @Test("when two columns store one property")
  func doubledProperty() async throws {
    #expect(
      try await failure(Doubled.self)?.message == "table doubled stores one property in two columns, a and b")
  }

  @Test("when a reference becomes NULL and its property cannot")
  func setNull() async throws {
    #expect(
      try await failure(First.self, Emptied.self)?.message
        == "table emptied has a column first that becomes NULL when the row it refers to is deleted, and is not optional"
    )
  }

  @Test("when two models of one replica have one table, in whatever case")
  func sharedTable() async throws {
    #expect(
      try await failure(First.self, Second.self)?.message == "table SHARED belongs to two models, First and Second")
  }

  @Test("never for a key that is computed from the key's column")
  func valid() async throws {
    let replica = try await Replica.temporary(models: First.self, Computed.self)
    try await replica.write { try $0.insert(Computed(code: "y")) }
    #expect(try await replica.fetch(Computed.where { $0.id == "y" }).map(\.code) == ["y"])
    await replica.close()
  }
}
