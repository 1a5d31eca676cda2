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
    let replica = try await Replica.open(at: replica, models: Draft.self, configuration: .init(key: keys))
    try await replica.write { try $0.insert(Draft(text: "a")) }
    await replica.close()
  }

  /// Writes as a program that uses the library would.
  func write(_ body: @escaping @Sendable (Transaction) throws -> Void) async throws {
    let replica = try await Replica.open(at: replica, models: Note.self, configuration: .init(key: keys))
    try await replica.write(body)
    await replica.close()
  }

  /// Makes a replica here and a member of it there.
  func invite(_ other: Machine) throws {
    try other.write(Data(try other.godwit("identity").output), to: "identity")
    try #require(add(other.path("identity"), other).status == 0)
    try #require(other.join(self).status == 0)
  }

  /// Adds the other machine, whose people give its fingerprint.
  @discardableResult
  func add(_ identity: String, _ other: Machine, _ options: String...) throws -> Outcome {
    try run(["member", "add", identity, "--name", other.name, "--fingerprint", other.fingerprint()] + options)
  }

  /// Joins by the other machine's invitation for this one.
  @discardableResult
  func join(_ other: Machine, _ options: String...) throws -> Outcome {
    try run(
      ["join", other.path("\(name).godwit-invitation"), "--fingerprint", other.fingerprint()] + options)
  }

  /// What the people at this machine read aloud.
  func fingerprint() throws -> String {
    try #require(try godwit("identity", "--fingerprint", "--quiet").lines.first)
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
