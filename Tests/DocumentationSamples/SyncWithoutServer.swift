import Foundation
import Godwit

enum SyncWithoutServerSamples {
  struct Note: Model {
    static let schema = Schema<Self>("note") { Column("title", \.title) }
    var id = RecordID<Note>()
    var title = ""
  }

  static func run() async throws {
    let replica = try await Replica.open(at: "notes", models: Note.self)
    try await replica.write { try $0.insert(Note(title: "Buy milk")) }
    try FileManager.default.createDirectory(atPath: "stick/notes", withIntermediateDirectories: true)

    // begin sample
    try await replica.remotes.add("stick", at: "stick/notes")
    let report = try await replica.sync()
    for remote in report.remotes {
      if let error = remote.error {
        print("\(remote.name): \(error.message)")  // the other remotes were synced all the same
      } else {
        print(remote.taken.count, remote.published?.transactions ?? 0)  // 0 1
      }
    }
    // end sample

    try expect(report.remotes.first?.error == nil, report.remotes.first?.published?.transactions == 1)
    await replica.close()
  }
}
