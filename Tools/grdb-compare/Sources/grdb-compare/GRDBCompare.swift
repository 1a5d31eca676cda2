import Foundation
import GRDB

/// Does with GRDB's records on plain SQLite what godwit-bench's model rows do with Godwit's models, and prints µs a
/// row under the same names: `grdb-compare [ROWS [ROUNDS]]`.
@main
struct GRDBCompare {
  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
    let rowCount = numbers.first ?? 100_000
    let rounds = numbers.dropFirst().first ?? 16
    guard rowCount >= 1_000, rounds >= 1, numbers.count <= 2 else {
      FileHandle.standardError.write(Data("usage: grdb-compare [ROWS [ROUNDS]], ROWS at least 1000\n".utf8))
      exit(64)
    }
    let folder = NSTemporaryDirectory() + "grdb-compare-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let comparison = Comparison(database: try openDatabase("\(folder)/database"), rounds: rounds)
    printRow("row", "µs")
    try comparison.run(rowCount)
  }

  /// WAL and `synchronous=NORMAL` are the pool's own; the rest is set as Godwit sets it.
  private static func openDatabase(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA temp_store=MEMORY; PRAGMA secure_delete=ON; PRAGMA cache_size=-16384")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.write { database in
      try database.execute(
        sql: """
          CREATE TABLE uncaptured (id BLOB NOT NULL PRIMARY KEY, title TEXT NOT NULL DEFAULT '',
            body TEXT NOT NULL DEFAULT '', views INTEGER NOT NULL DEFAULT 0, created REAL NOT NULL);
          CREATE TABLE folder (id BLOB NOT NULL PRIMARY KEY, name TEXT NOT NULL DEFAULT '');
          CREATE TABLE note (id BLOB NOT NULL PRIMARY KEY,
            folder BLOB NOT NULL REFERENCES folder DEFERRABLE INITIALLY DEFERRED, title TEXT NOT NULL DEFAULT '',
            body TEXT NOT NULL DEFAULT '', views INTEGER NOT NULL DEFAULT 0, created REAL NOT NULL);
          CREATE INDEX note_by_folder ON note (folder);
          """)
    }
    return pool
  }
}

struct Comparison {
  let database: DatabasePool
  let rounds: Int

  struct WrongCount: Error { let found, wanted: Int }

  func run(_ rowCount: Int) throws {
    let rows = RowSource.rows(rowCount)
    try measure("models: insert, uncaptured", units: rowCount) {
      try insert(rows)
    } reset: {
      _ = try database.write { try LocalRow.deleteAll($0) }
    }

    try insert(rows)
    try measure("models: fetch, 5 columns into structs", units: rowCount) {
      try expect(try database.read { try LocalRow.fetchAll($0) }.count, rowCount)
    }

    var generator = SplitMix64(state: 7)
    let keys = rows.map(\.id).shuffled(using: &generator)
    try measure("models: fetch by key", units: rowCount) {
      let found = try database.read { database in try keys.compactMap { try LocalRow.fetchOne(database, id: $0) } }
      try expect(found.count, rowCount)
    }

    let (folders, notes) = RowSource.folders(rowCount / 100, notesEach: 20)
    try database.write { database in
      for folder in folders { try folder.insert(database) }
      for note in notes { try note.insert(database) }
    }
    try measure("models: eager load, 20 children a parent", units: folders.count + notes.count) {
      let request = Folder.including(all: Folder.notes.forKey("notes")).asRequest(of: FolderWithNotes.self)
      let found = try database.read { try request.fetchAll($0) }
      try expect(found.reduce(0) { $0 + $1.notes.count }, notes.count)
    }
  }

  private func insert(_ rows: [LocalRow]) throws {
    for start in stride(from: 0, to: rows.count, by: 1_000) {
      try database.write { database in
        for row in rows[start..<min(start + 1_000, rows.count)] { try row.insert(database) }
      }
    }
  }

  /// Prints the median of the rounds; a round that warms up comes first and is not counted.
  private func measure(_ name: String, units: Int, _ body: () throws -> Void, reset: () throws -> Void = {}) throws {
    var times: [Double] = []
    for round in 0...rounds {
      let duration = try ContinuousClock().measure(body)
      try reset()
      if round > 0 { times.append(duration / .microseconds(1)) }
    }
    times.sort()
    let median = (times[(times.count - 1) / 2] + times[times.count / 2]) / 2
    printRow(name, String(format: "%.2f", median / Double(units)))
  }

  private func expect(_ found: Int, _ wanted: Int) throws {
    guard found == wanted else { throw WrongCount(found: found, wanted: wanted) }
  }
}

func printRow(_ name: String, _ time: String) {
  func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
  print(name + spaces(46 - name.count) + spaces(10 - time.count) + time)
}
