import Foundation
import Godwit

enum BackupsSamples {
  struct Note: Model {
    static let schema = Schema<Self>("note") { Column("title", \.title) }
    var id = RecordID<Note>()
    var title = ""
  }

  static func run() async throws {
    var replica = try await Replica.open(at: "notes", models: Note.self)
    try await replica.write { try $0.insert(Note(title: "Buy milk")) }

    // begin sample
    let code = ReplicaKeyring.newRecoveryCode()
    try await replica.keyring.add(label: "paper", openedBy: [.recoveryCode(code)])
    let report = try await replica.maintenance.backup(to: "notes.backup")
    print(report.slots.map(\.label))  // ["machine", "paper"]
    // end sample
    try expect(report.slots.map(\.label) == ["machine", "paper"])

    await replica.close()
    try FileManager.default.removeItem(atPath: "notes")

    // begin sample
    let keys = Replica.KeySource.keyring(openedBy: [.recoveryCode(code)])
    let restored = try await Replica.restore("notes.backup", to: "notes", key: keys)
    replica = try await Replica.open(at: "notes", models: Note.self, configuration: .init(key: keys))
    // end sample
    try await expect(restored.hasRestoredKeyring, replica.count(Note.all) == 1)
    try await replica.write { try $0.insert(Note(title: "Water the plants")) }
    await replica.close()

    // begin sample
    do {
      try await Replica.restore("notes.backup", to: "notes", key: keys)
    } catch let error as GodwitError where error.code == .unsentTransactions {
      print(error.message)  // what nobody else is known to hold would be lost
    }
    // end sample
    do {
      try await Replica.restore("notes.backup", to: "notes", key: keys)
      try expect(false)
    } catch let error as GodwitError {
      try expect(error.code == .unsentTransactions)
    }
    try await Replica.restore("notes.backup", to: "notes", key: keys, discardingUnsent: true)
  }
}
