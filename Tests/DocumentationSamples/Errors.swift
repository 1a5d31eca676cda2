import Godwit

enum ErrorsSamples {
  // begin sample
  struct Entry: Model {
    static let schema = Schema<Self>("entry") {
      Column("text", \.text)
      Validate(\.text, .presence)
    }
    var id = RecordID<Entry>()
    var text = ""
  }
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(at: "errors", models: Entry.self)
    // begin sample
    @Sendable func note(_ text: String) async throws -> Bool {
      do {
        try await replica.write { try $0.insert(Entry(text: text)) }
        return true
      } catch let error as GodwitError {
        switch error.code {
        case .validationFailed:
          for violation in error.violations { print(violation) }  // text must not be empty
        case .busy:
          print("another process is writing; try again in a moment")
        default:
          print(error.message, error.hint ?? "")
          throw error
        }
        return false
      }
    }
    let isNoted = try await note(" ")  // false
    // end sample
    try expect(!isNoted)
    try await expect(note("water the plants"))
    try await expect(replica.count(Entry.all) == 1)
    await replica.close()
    do {
      _ = try await note("too late")
      try expect(false)
    } catch let error as GodwitError {
      try expect(error.code == .closed)
    }
  }
}
