import Foundation
import Godwit

enum ComingFromSQLiteSamples {
  // begin sample
  static let migrations = Migrations {
    Migration(1, "readings") {
      $0.create("reading") {
        $0.column("id", UUID.self)
        $0.column("sensor", String.self, default: "")
        $0.column("celsius", Double.self, default: 0)
      }
    }
    Migration(2, "comments") {
      $0.alter("reading") { $0.add("comment", String?.self) }
    }
  }
  // end sample

  static func run() async throws {
    // begin sample
    let replica = try await Replica.open(at: "station", models: [], configuration: .init(migrations: migrations))

    let (roof, cellar) = (UUID(), UUID())
    try await replica.write { transaction in
      try transaction.execute("INSERT INTO reading (id, sensor, celsius) VALUES (\(roof), 'roof', 21.5)")
      try transaction.execute("INSERT INTO reading (id, sensor, celsius) VALUES (\(cellar), 'cellar', 12.0)")
    }

    try await replica.write { transaction in  // in place of an upsert
      let changed = try transaction.execute("UPDATE reading SET celsius = \(22.0) WHERE id = \(roof)")
      if changed == 0 {
        try transaction.execute("INSERT INTO reading (id, sensor, celsius) VALUES (\(roof), 'roof', \(22.0))")
      }
    }

    let warm: SQL = "SELECT sensor, celsius FROM reading WHERE celsius > \(20.0) ORDER BY sensor"
    for (sensor, celsius) in try await replica.fetch(warm.reading(String.self, Double.self)) {
      print(sensor, celsius)  // roof 22.0
    }

    try await replica.write { transaction in  // this database's alone: not logged, not sent
      try transaction.execute("CREATE TABLE seen (reading BLOB PRIMARY KEY)")
      try transaction.execute("INSERT INTO seen SELECT id FROM reading")
    }

    do {
      try await replica.write { try $0.execute("PRAGMA synchronous = OFF") }
    } catch let error as GodwitError where error.code == .notAuthorized {
      print(error.message)  // this statement is not allowed here
    }

    let sent = try await replica.export(to: .file("station.godwit-sync"))
    print(sent.transactions)
    await replica.close()
    // end sample
    try expect(sent.transactions >= 2)
  }
}
