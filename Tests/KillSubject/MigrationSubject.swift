import Foundation
import Godwit

/// A program whose third version rewrites every row twice, with steps in between that can be seen from outside.
enum MigrationSubject {
  static let rowCount = 3_000

  static func open(_ path: String, version: Int) async throws -> Replica {
    try await Replica.open(
      at: path, models: [], configuration: .init(migrations: Migrations(Array(all.prefix(version)))))
  }

  /// Makes the replica as the program's first version leaves it.
  static func make(_ path: String) async throws {
    let replica = try await open(path, version: 1)
    try await replica.write { transaction in
      for number in 0..<rowCount { try transaction.execute("INSERT INTO page VALUES (\(number), 'Page', \(number))") }
    }
    await replica.close()
  }

  static func migrate(_ path: String) async throws {
    step()
    await (try open(path, version: 3)).close()
    step()
  }

  private static func step() { FileHandle.standardOutput.write(Data([0x2E])) }

  @Migrations.Builder private static var all: [Migration] {
    Migration(1, "pages") {
      $0.create("page") {
        $0.column("id", Int.self)
        $0.column("titel", String.self, default: "")
        $0.column("views", Int.self, default: 0)
      }
    }
    Migration(2, "titles") {
      $0.alter("page") {
        $0.rename("titel", to: "title")
        $0.add("slug", String.self, from: "title", by: "lower(title)", default: "")
      }
      $0.run("number the titles") { transaction in
        for number in 0..<10 {
          step()
          try transaction.execute("UPDATE page SET title = title || ' ' || id WHERE id % 10 = \(number)")
        }
        step()
      }
    }
    Migration(3, "views") {
      $0.alter("page") { $0.change("views", String.self, default: "") }
      $0.rename("page", to: "sheet")
      $0.run("mark") { transaction in
        step()
        try transaction.execute("UPDATE sheet SET views = 'v' || views")
        step()
      }
    }
  }
}
