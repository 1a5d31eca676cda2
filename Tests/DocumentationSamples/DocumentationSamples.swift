import Foundation

/// Runs the samples of one documentation page in the current folder. The file of a page is called as the page is; what
/// stands between `// begin sample` and `// end sample` there is, block by block, the Swift that the page shows
/// (Tests/DocumentationTests compares them).
@main
struct DocumentationSamples {
  static func main() async throws {
    switch CommandLine.arguments.dropFirst().first {
    case "README": try await ReadmeSamples.run()
    case "Godwit": try await GodwitSamples.run()
    case "FirstReplica": try await FirstReplicaSamples.run()
    case "Models": try await ModelsSamples.run()
    case "ChangingTables": try await ChangingTablesSamples.run()
    case "Queries": try await QueriesSamples.run()
    case "Relations": try await RelationsSamples.run()
    case "Observing": try await ObservingSamples.run()
    case "JSONDocuments": try await JSONDocumentsSamples.run()
    case "EncryptedCache": try await EncryptedCacheSamples.run()
    case "Merging": try await MergingSamples.run()
    case "Conflicts": try await ConflictsSamples.run()
    case "Threads": try await ThreadsSamples.run()
    case "SyncWithoutServer": try await SyncWithoutServerSamples.run()
    case "Backups": try await BackupsSamples.run()
    case "Errors": try await ErrorsSamples.run()
    case "ComingFromGRDB": try await ComingFromGRDBSamples.run()
    case "ComingFromSwiftData": try await ComingFromSwiftDataSamples.run()
    case "ComingFromSQLite": try await ComingFromSQLiteSamples.run()
    case "NotesOnStorage": try await NotesOnStorageSamples.run()
    default: exit(64)
    }
  }
}

/// What a page says of its sample and turned out otherwise.
struct WrongOutcome: Error {
  let line: UInt
}

/// Makes the program fail when what a page promises does not hold.
func expect(_ outcomes: Bool..., line: UInt = #line) throws {
  guard !outcomes.contains(false) else { throw WrongOutcome(line: line) }
}
