import Foundation
import Godwit

struct Shelf: Model {
  static let schema = Schema<Self>("shelf") { Column("name", \.name) }
  var id = 0
  var name = ""
}

/// A row with a key that can change, a unique value, and references of every kind.
struct Item: Model {
  static let schema = Schema<Self>("item") {
    Column("code", \.code).unique()
    Column("title", \.title)
    Column("amount", \.amount)
    Column("note", \.note)
    Column("payload", \.payload)
    Column("shelf", \.shelf).references(Shelf.self, onDelete: .cascade)
    Column("origin", \.origin).references(Shelf.self, onDelete: .setNull)
    Column("parent", \.parent)
  }
  var id = ""
  var code: Int?
  var title = ""
  var amount = 0.0
  var note: String?
  var payload: Data?
  var shelf: Int?
  var origin: Int?
  var parent: String?
}
