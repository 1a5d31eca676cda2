import Foundation
import GRDB

/// Rows of the same columns as godwit-bench's `LocalRow`. The conformances are written out: through Codable GRDB takes
/// longer.
struct LocalRow: Identifiable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "uncaptured"

  var id: UUID
  var title: String
  var body: String
  var views: Int
  var created: Double
}

extension LocalRow {
  init(row: Row) {
    id = row["id"]
    title = row["title"]
    body = row["body"]
    views = row["views"]
    created = row["created"]
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["title"] = title
    container["body"] = body
    container["views"] = views
    container["created"] = created
  }
}

/// What has notes.
struct Folder: Identifiable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "folder"
  static let notes = hasMany(Note.self)

  var id: UUID
  var name: String
}

extension Folder {
  init(row: Row) {
    id = row["id"]
    name = row["name"]
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["name"] = name
  }
}

/// What belongs to a folder.
struct Note: Identifiable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "note"

  var id: UUID
  var folder: UUID
  var title: String
  var body: String
  var views: Int
  var created: Double
}

extension Note {
  init(row: Row) {
    id = row["id"]
    folder = row["folder"]
    title = row["title"]
    body = row["body"]
    views = row["views"]
    created = row["created"]
  }

  func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["folder"] = folder
    container["title"] = title
    container["body"] = body
    container["views"] = views
    container["created"] = created
  }
}

/// A folder with its notes, loaded along with it.
struct FolderWithNotes: FetchableRecord {
  let folder: Folder
  let notes: [Note]

  init(row: Row) throws {
    folder = Folder(row: row)
    notes = row["notes"]
  }
}
