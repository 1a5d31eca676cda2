import Foundation
import Godwit
import Testing

private enum Country: String, ModelKey { case finland = "fi", norway = "no" }

private struct ByText: Model {
  static let schema = Schema<Self>("by_text", key: "code") { Column("name", \.name) }
  var id = ""
  var name = ""
}
private struct ByInt: Model {
  static let schema = Schema<Self>("by_int") { Column("name", \.name) }
  var id = 0
  var name = ""
}
private struct ByInt64: Model {
  static let schema = Schema<Self>("by_int64") { Column("name", \.name) }
  var id: Int64 = 0
  var name = ""
}
private struct ByUUID: Model {
  static let schema = Schema<Self>("by_uuid") { Column("name", \.name) }
  var id = UUID()
  var name = ""
}
private struct ByCountry: Model {
  static let schema = Schema<Self>("by_country") { Column("name", \.name) }
  var id = Country.finland
  var name = ""
}

@Suite("A key of the model's own choosing")
struct OwnKeyTests {
  private let pair: ReplicaPair
  init() async throws {
    pair = try await ReplicaPair(
      models: [ByText.self, ByInt.self, ByInt64.self, ByUUID.self, ByCountry.self])
  }

  private func expectKept<Root: Model>(
    _ make: @Sendable (Root.ID) -> Root, _ keys: [Root.ID], name: WritableKeyPath<Root, String> & Sendable,
    at location: SourceLocation = #_sourceLocation
  ) async throws where Root.ID: Sendable {
    let models = keys.map(make)
    try await pair.sender.write { try $0.insert(models) }
    let renamed = models.map { model in
      var model = model
      model[keyPath: name] = "renamed"
      return model
    }
    let last = renamed[renamed.count - 1]
    try await pair.sender.write { transaction in
      for model in renamed { try #expect(transaction.update(model)) }
      try #expect(transaction.delete(last))
    }
    try await pair.expectSame(at: location)
    for key in keys.dropLast() {
      let stored = try await pair.receiver.fetch(Root.self, key: key)
      #expect(stored?[keyPath: name] == "renamed" && stored?.id == key, sourceLocation: location)
    }
    #expect(try await pair.receiver.fetch(Root.self, key: last.id) == nil, sourceLocation: location)
    #expect(
      await code { try await pair.sender.write { try $0.insert(models[0]) } } == .constraint, sourceLocation: location)
  }

  @Test("can be text, an integer, a UUID or an enum")
  func kinds() async throws {
    try await expectKept({ ByText(id: $0, name: "text") }, ["", "a'b", "ü\0", "last"], name: \.name)
    try await expectKept({ ByInt(id: $0, name: "int") }, [.min, -1, 0, .max], name: \.name)
    try await expectKept({ ByInt64(id: $0, name: "int64") }, [.min, 0, 1, .max], name: \.name)
    try await expectKept({ ByUUID(id: $0, name: "uuid") }, [UUID(), UUID(), UUID()], name: \.name)
    try await expectKept({ ByCountry(id: $0, name: "country") }, [.finland, .norway], name: \.name)
  }

  @Test("can have a name of its own")
  func name() async throws {
    try await pair.sender.write { try $0.insert(ByText(id: "x", name: "y")) }
    #expect(try await pair.sender.rows("SELECT code FROM by_text").map(\.values) == [["x"]])
  }

  @Test("that SQLite numbers makes one row of two machines' rows, and the conflict has the other's values")
  func numbered() async throws {
    let group = try await MergeGroup(models: [ByInt.self])
    for index in 0..<2 { try await group.write(index, "INSERT INTO by_int (name) VALUES (\("of \(index)"))") }
    try await group.exchange()
    #expect(try await group[0].fetch(ByInt.all).map(\.name) == ["of 1"])
    let conflict = try #require(try await group.conflicts(0).last)
    #expect(conflict.table == "by_int" && "\(conflict)".contains("of 0"))
  }
}
