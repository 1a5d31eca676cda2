import CSQLCipher
import Foundation

extension BareDatabase {
  struct Folder {
    var id = Key()
    var name = ""
  }

  struct Note {
    var id = Key()
    var folder = Key()
    var title = ""
    var body = ""
    var views = 0
    var created = Date(timeIntervalSinceReferenceDate: 0)
  }

  /// The rows with these keys, in their order: one statement in one read transaction.
  func fetch(_ keys: [Key]) throws -> [Row] {
    try execute("BEGIN")
    defer { try? execute("ROLLBACK") }
    let statement = try prepare("SELECT id, title, body, views, created FROM bare WHERE id = ?")
    defer { sqlite3_finalize(statement) }
    var rows: [Row] = []
    rows.reserveCapacity(keys.count)
    for key in keys {
      bind(key, statement, 1)
      if sqlite3_step(statement) == SQLITE_ROW { rows.append(try row(statement)) }
      sqlite3_reset(statement)
    }
    return rows
  }

  func createFolders() throws {
    try execute(
      """
      CREATE TABLE folder (id BLOB NOT NULL, name TEXT NOT NULL DEFAULT '', PRIMARY KEY (id));
      CREATE TABLE note (id BLOB NOT NULL, folder BLOB NOT NULL REFERENCES folder DEFERRABLE INITIALLY DEFERRED,
        title TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '', views INTEGER NOT NULL DEFAULT 0,
        created REAL NOT NULL, PRIMARY KEY (id));
      CREATE INDEX note_by_folder ON note (folder);
      """)
  }

  func insert(_ folders: [Folder], _ notes: [Note]) throws {
    try execute("BEGIN IMMEDIATE")
    try insert(folders, "INSERT INTO folder (id, name) VALUES (?, ?)") { folder, statement in
      bind(folder.id, statement, 1)
      bind(folder.name, statement, 2)
    }
    let sql = "INSERT INTO note (id, folder, title, body, views, created) VALUES (?, ?, ?, ?, ?, ?)"
    try insert(notes, sql) { note, statement in
      bind(note.id, statement, 1)
      bind(note.folder, statement, 2)
      bind(note.title, statement, 3)
      bind(note.body, statement, 4)
      sqlite3_bind_int64(statement, 5, Int64(note.views))
      sqlite3_bind_double(statement, 6, note.created.timeIntervalSinceReferenceDate)
    }
    try execute("COMMIT")
  }

  private func insert<Element>(_ rows: [Element], _ sql: String, _ bind: (Element, OpaquePointer?) -> Void) throws {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    for row in rows {
      bind(row, statement)
      guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure(code: sqlite3_errcode(handle)) }
      sqlite3_reset(statement)
    }
  }

  /// Every folder with its notes: two statements, and a dictionary to bring them together.
  func foldersWithNotes() throws -> [(Folder, [Note])] {
    try execute("BEGIN")
    defer { try? execute("ROLLBACK") }
    let folders = try prepare("SELECT id, name FROM folder")
    defer { sqlite3_finalize(folders) }
    var found: [Folder] = []
    while sqlite3_step(folders) == SQLITE_ROW {
      found.append(Folder(id: try key(folders, 0), name: text(folders, 1)))
    }
    let notes = try prepare("SELECT id, folder, title, body, views, created FROM note")
    defer { sqlite3_finalize(notes) }
    var groups: [Key: [Note]] = [:]
    while sqlite3_step(notes) == SQLITE_ROW {
      var note = Note()
      note.id = try key(notes, 0)
      note.folder = try key(notes, 1)
      note.title = text(notes, 2)
      note.body = text(notes, 3)
      note.views = Int(sqlite3_column_int64(notes, 4))
      note.created = Date(timeIntervalSinceReferenceDate: sqlite3_column_double(notes, 5))
      groups[note.folder, default: []].append(note)
    }
    return found.map { ($0, groups[$0.id] ?? []) }
  }
}
