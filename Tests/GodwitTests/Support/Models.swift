import Foundation
import Godwit

struct Folder: Model {
  static let schema = Schema<Self>("folder") { Column("name", \.name) }
  var id = RecordID<Folder>()
  var name = ""
}

struct Note: Model {
  static let schema = Schema<Self>("note") {
    Column("title", \.title)
    Column("body", \.body)
    Column("views", \.views)
    Column("folder", \.folder).references(Folder.self, onDelete: .cascade)
    Index(\.title)
  }
  var id = RecordID<Note>()
  var title = ""
  var body: String?
  var views = 0
  var folder: Folder.ID?
  /// Not listed in the schema, so never stored.
  var isSelected = false
}

/// The same columns, in a table that is never captured.
struct Draft: Model {
  static let schema = Schema<Self>("draft", sync: .local) { Column("title", \.title) }
  var id = RecordID<Draft>()
  var title = ""
}
