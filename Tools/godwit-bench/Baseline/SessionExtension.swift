import Foundation
import GodwitBase

/// SQLite's session extension on the very rows of the merge group, by apsw, which carries it: on plain SQLite, without
/// encryption, proof of who wrote what, or a log of conflicts.
enum SessionExtension {
  private static let peer = PythonPeer(
    name: "session extension", packages: ["apsw", "zstandard"],
    script: """
      import os, statistics, time, apsw, zstandard
      folder, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
      rows = []
      with open(path, encoding='utf-8') as lines:
          for line in lines:
              key, title, body, views, created = line.rstrip('\\n').split('\\t')
              rows.append((bytes.fromhex(key), title, body, int(views), float(created)))
      def database(name):
          connection = apsw.Connection(os.path.join(folder, name))
          for pragma in ('page_size=4096', 'journal_mode=WAL', 'synchronous=NORMAL', 'cache_size=-8000'):
              connection.execute('PRAGMA ' + pragma)
          connection.execute('CREATE TABLE captured '
            '(id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT, views INTEGER, created)')
          return connection
      def recorded(connection, statement, values):
          session = apsw.Session(connection, 'main')
          session.attach('captured')
          with connection:
              connection.executemany(statement, values)
          changes = session.changeset()
          session.close()
          return changes
      def applied(changes, connection):
          begin = time.perf_counter()
          apsw.Changeset.apply(changes, connection)
          return time.perf_counter() - begin
      half = [(row[0],) for row in rows[:len(rows) // 2]]
      new, edits = [], []
      for turn in range(rounds + 1):
          sender, receiver = database('sender-%d' % turn), database('receiver-%d' % turn)
          inserted = recorded(sender, 'INSERT INTO captured VALUES (?, ?, ?, ?, ?)', rows)
          new.append(applied(inserted, receiver))
          edited = recorded(sender, 'UPDATE captured SET views = views + 1 WHERE id = ?', half)
          edits.append(applied(edited, receiver))
          sender.close(); receiver.close()
      pack = zstandard.ZstdCompressor(level=3).compress
      print('session extension, apsw %s: import %.2f us a new row, %.2f us an edit; %d and %d bytes '
            '(%d rows, plain SQLite without age or conflicts, not gated)' % (
          apsw.apsw_version(), statistics.median(new[1:]) / len(rows) * 1e6,
          statistics.median(edits[1:]) / len(half) * 1e6, len(pack(inserted)), len(pack(edited)), len(rows)))
      """)
  private static let roundCountMax = 4

  /// A line about it, or why there is none.
  static func line(_ context: BenchContext) -> String {
    let path = "\(context.folder)/session-rows"
    let lines = bareRows(CapturedRow.make(context.rowCount)).map { row in
      let key = withUnsafeBytes(of: row.id) { Hexadecimal.encode(Array($0)) }
      return "\(key)\t\(row.title)\t\(row.body)\t\(row.views)\t\(row.created.timeIntervalSinceReferenceDate)\n"
    }
    guard FileManager.default.createFile(atPath: path, contents: Data(lines.joined().utf8)) else {
      return "session extension: skipped, for its rows cannot be written"
    }
    return peer.line(in: "\(context.folder)/session", [path, "\(min(context.rounds, roundCountMax))"])
  }
}
