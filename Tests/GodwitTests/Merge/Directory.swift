import Godwit

/// No two directories of one parent have one name.
struct Directory: Model {
  static let schema = Schema<Self>("directory") {
    Column("parent", \.parent).references(Directory.self, onDelete: .setNull, acyclic: true)
    Column("name", \.name)
    Index(\.parent, \.name).unique()
  }
  var id = ""
  var parent: String?
  var name = ""
}
