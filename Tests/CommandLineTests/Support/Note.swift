import Foundation
import Godwit
import Testing

/// The data of the program these tests stand in for.
struct Note: Model {
  static let schema = Schema<Self>("note") {
    Column("title", \.title)
    Column("views", \.views)
  }
  var id = RecordID<Note>()
  var title = ""
  var views = 0
}

/// What it keeps to this machine.
struct Draft: Model {
  static let schema = Schema<Self>("draft", sync: .local) { Column("text", \.text) }
  var id = RecordID<Draft>()
  var text = ""
}

extension Machine {
  /// Opens the replica with a local model.
  func makeLocalTable() async throws {
    let replica = try await Replica.open(at: replica, models: Draft.self, key: keys)
    try await replica.write { try $0.insert(Draft(text: "a")) }
    await replica.close()
  }

  /// Writes as a program that uses the library would.
  func write(_ body: @escaping @Sendable (Transaction) throws -> Void) async throws {
    let replica = try await Replica.open(at: replica, models: Note.self, key: keys)
    try await replica.write(body)
    await replica.close()
  }

  /// Makes a replica here and a member of it there.
  func invite(_ other: Machine) throws {
    try other.write(Data(try other.godwit("identity").output), to: "identity")
    try #require(try godwit("member", "add", other.path("identity"), "--name", other.name).status == 0)
    try #require(try other.godwit("join", path("\(other.name).godwit-invitation")).status == 0)
  }

  /// Two machines of one group, with three notes on the first.
  static func pair() async throws -> (desk: Machine, laptop: Machine) {
    let desk = try Machine("desk")
    let laptop = try Machine("laptop")
    try #require(try desk.godwit("init", "--name", "desk").status == 0)
    try desk.invite(laptop)
    try await desk.write { tx in
      for number in 1...3 { try tx.insert(Note(title: "note \(number)", views: number)) }
    }
    return (desk, laptop)
  }

  func digest() throws -> String { try godwit("verify", "--digest-only").text }
}
