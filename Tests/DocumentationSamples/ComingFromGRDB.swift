import Foundation
import Godwit

enum ComingFromGRDBSamples {
  // begin sample
  struct Team: Model {
    static let schema = Schema<Self>("team") { Column("name", \.name) }
    static let players = HasMany(\Player.team)
    var id = RecordID<Team>()
    var name = ""
  }

  struct Player: Model {
    static let schema = Schema<Self>("player") {
      Column("name", \.name)
      Column("score", \.score, merge: .counter)
      Column("team", \.team).references(Team.self, onDelete: .setNull)
      Index(\.team)
      Validate(\.name, .presence)
    }
    var id = RecordID<Player>()
    var name = ""
    var score = 0
    var team: Team.ID?
  }

  static let migrations = Migrations {
    Migration(1, "players") {
      $0.create("player") {
        $0.column("id", UUID.self)
        $0.column("name", String.self, default: "")
        $0.column("score", Int.self, default: 0, merge: .counter)
      }
    }
    Migration(2, "teams") {
      $0.create(Team.self)
      $0.alter("player") {
        $0.add("team", UUID?.self, references: "team", onDelete: .setNull)
        $0.addIndex("team")
      }
    }
  }
  // end sample

  static func run() async throws {
    // begin sample
    let replica = try await Replica.open(
      at: "league", models: Team.self, Player.self, configuration: .init(migrations: migrations))

    try await replica.write { transaction in
      let reds = try transaction.insert(Team(name: "Reds"))
      try transaction.insert(Player(name: "Arthur", score: 100, team: reds.id))
      try transaction.insert(Player(name: "Barbara", score: 1_000))
    }

    let best = Player.where { $0.score >= 100 }.order(by: \.score, .descending).order(by: \.name).limit(10)
    let players = try await replica.fetch(best)
    print(players.map(\.name))  // ["Barbara", "Arthur"]

    try await replica.write { transaction in
      guard var arthur = try transaction.first(Player.where { $0.name == "Arthur" }) else { return }
      arthur.score += 50  // two machines that add 50 each come to 100 more
      try transaction.update(arthur)  // writes and records the score alone
    }

    for (team, players) in try await replica.fetch(Team.all.including(Team.players)) {
      print(team.name, players.map(\.score))  // Reds [150]
    }

    for try await players in replica.observe(best) {
      print(players.count)  // 2 at once, and another value after every change
      break
    }

    let sent = try await replica.export(to: .file("league.godwit-sync"))
    print(sent.transactions)
    await replica.close()
    // end sample
    try expect(players.map(\.name) == ["Barbara", "Arthur"], sent.transactions >= 2)
  }
}
