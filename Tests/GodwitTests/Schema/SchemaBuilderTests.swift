import Foundation
import Godwit
import GodwitCore
import GodwitModel
import Testing

private let hasColor = true
private let maybeSize: Column<Piece>? = Column("size", \.size)
private let maybeIndex: Index<Piece>? = nil

private struct Piece: Model {
  static let schema = Schema<Self>("piece") {
    Column("name", \.name)
    if hasColor { Column("color", \.color) }
    if hasColor {
      Index(\.color)
    } else {
      Index(\.name)
    }
    maybeSize
    maybeIndex
    for name in ["left", "right"] { Column(name, name == "left" ? \.left : \.right) }
  }
  var id = 0
  var name = ""
  var color = ""
  var size = 0
  var left = 0
  var right = 0
}

@Suite("A schema is built")
struct SchemaBuilderTests {
  @Test("with if, else, for and optional elements")
  func conditions() async throws {
    let definition = try Piece.schema.definition()
    #expect(definition.columns.map(\.name) == ["id", "name", "color", "size", "left", "right"])
    #expect(definition.indexes.map(\.columns) == [["color"]])
    let replica = try await Replica.temporary(models: Piece.self)
    try await replica.write { try $0.insert(Piece(id: 1, name: "a", color: "red", size: 2, left: 3, right: 4)) }
    let found = try await replica.fetch(Piece.self, key: 1)
    #expect(found?.color == "red" && found?.size == 2 && found?.left == 3 && found?.right == 4)
    await replica.close()
  }

  @Test("by migrations with if, else and for, among them and among the steps of one")
  func migrations() async throws {
    let migrations = Migrations {
      for (place, table) in ["left", "right"].enumerated() {
        Migration(place + 1, table) { steps in
          steps.create(table) {
            $0.column("id", Int.self)
            for number in 1...2 { $0.column("n\(number)", Int?.self) }
          }
        }
      }
      if hasColor {
        Migration(3, "color") { $0.alter("left") { $0.add("color", String?.self) } }
      } else {
        Migration(3, "nothing") { $0.drop("left") }
      }
    }
    let replica = try await Replica.temporary(configuration: .init(migrations: migrations))
    let left = try await replica.tables.table(named: "left")
    #expect(left.columns.map(\.name) == ["n1", "n2", "color"])
    #expect(try await replica.migrations.status().version == 3)
    await replica.close()
  }
}
