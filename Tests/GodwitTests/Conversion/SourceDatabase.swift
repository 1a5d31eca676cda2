import Foundation
import GodwitStorage

/// A database of another program's.
struct SourceDatabase {
  let path: String

  init(_ path: String, _ statements: String) throws {
    self.path = path
    try Data().write(to: URL(fileURLWithPath: path))
    let connection = try Connection(plaintext: path, mode: .copy)
    try connection.execute(statements)
  }

  static let shop = """
    CREATE TABLE customer (name TEXT NOT NULL, id INTEGER PRIMARY KEY, isActive BOOLEAN NOT NULL DEFAULT 1, since DATE);
    CREATE UNIQUE INDEX customer_name ON customer (name);
    CREATE TABLE purchase (id TEXT PRIMARY KEY, customer INTEGER REFERENCES customer (id) ON DELETE CASCADE,
      total REAL NOT NULL DEFAULT 0.5, checked INT, note TEXT DEFAULT 'it''s', image BLOB);
    CREATE INDEX purchase_total ON purchase (total) WHERE total > 10;
    CREATE TABLE line (purchase TEXT NOT NULL REFERENCES purchase, place INTEGER NOT NULL, count INTEGER,
      PRIMARY KEY (purchase, place)) WITHOUT ROWID;
    CREATE TABLE ticket (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);
    CREATE TABLE log (at, what);
    CREATE TABLE price (id INTEGER PRIMARY KEY, cents INTEGER CHECK (cents >= 0));
    CREATE VIRTUAL TABLE search USING fts4 (text); CREATE TABLE search_terms (id INTEGER PRIMARY KEY);
    INSERT INTO customer VALUES ('Ada', 1, 1, '2020-01-01'), ('Bo', 2, 0, NULL);
    INSERT INTO purchase VALUES ('a', 1, 12.5, 1, 'ü', x'0001'), ('b', 2, 3, NULL, NULL, NULL);
    INSERT INTO line VALUES ('a', 1, 3), ('a', 2, 1), ('b', 1, NULL);
    INSERT INTO ticket (text) VALUES ('one'), ('two'), ('three'); DELETE FROM ticket WHERE id = 3;
    INSERT INTO log VALUES (1, 'x'), (2.5, x'FF');
    INSERT INTO price VALUES (1, 100);
    INSERT INTO search VALUES ('found');
    CREATE VIEW big AS SELECT id FROM purchase WHERE total > 10;
    CREATE TRIGGER logged AFTER INSERT ON customer BEGIN INSERT INTO log VALUES (0, new.name); END;
    """
}
