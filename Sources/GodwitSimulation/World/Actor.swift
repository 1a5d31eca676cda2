import Foundation
import Godwit
import GodwitFiles
import GodwitCore
import GodwitEngine

/// One replica of a world: its folder, its clock, and what the world knows of it.
final class Actor {
  let index: Int
  let path: String
  let clock: MachineClock
  private(set) var replica: Replica
  private let incarnations: IncarnationNumbers
  private let statements: StatementCounter?
  /// What it held when the last event ended.
  var standing: Standing
  /// Marks the rows of its local table; a clone has its original's.
  let owner: Int
  /// What it held when it was backed up last.
  private var backedUp: Standing?
  /// How many transactions its log may hold before imports forget.
  private let tuning: Replica.Tuning
  /// The schema version of its program.
  private(set) var program = 0
  /// The schema version of its tables: that of its program, or a later one by additions.
  var version: Int { standing.schemaVersion }
  /// Whether it may have missed what the others forgot: it was removed, or an earlier state was restored.
  var wasAway = false
  /// Whether it is a member again and has not rejoined yet. What it wrote before may not spread: others may have
  /// forgotten what it had not seen.
  var mustRejoin = false
  /// How often it has become a member again.
  var readmissions = 0
  /// A state file says nothing of the conflicts before it.
  var hasLoadedState = false
  /// What it is called among the members.
  var name: String { "replica-\(owner)" }

  init(
    index: Int, path: String, clock: MachineClock, incarnations: IncarnationNumbers, countsStatements: Bool,
    tuning: Replica.Tuning, program: Int = 0, owner: Int? = nil
  ) async throws {
    self.incarnations = incarnations
    self.index = index
    self.owner = owner ?? index
    self.path = path
    self.clock = clock
    self.program = program
    self.tuning = tuning
    statements = countsStatements ? StatementCounter() : nil
    replica = try await Self.open(path, clock, incarnations, statements, tuning, program)
    standing = try await replica.standing()
  }

  private func open() async throws -> Replica {
    try await Self.open(path, clock, incarnations, statements, tuning, program)
  }

  private static func open(
    _ path: String, _ clock: MachineClock, _ incarnations: IncarnationNumbers, _ statements: StatementCounter?,
    _ tuning: Replica.Tuning, _ program: Int
  ) async throws -> Replica {
    try await Replica.open(
      at: path, models: SimulatedModels.models(at: program),
      configuration: .init(
        key: .keyring(), migrations: SimulatedModels.migrations(at: program),
        statements: statements == nil ? .none : .redacted, logger: statements?.logger ?? .silent),
      wallClock: clock.wallClock, incarnations: incarnations, tuning: tuning)
  }

  func reopen() async throws {
    await replica.close()
    replica = try await open()
  }

  func upgrade(to program: Int) async throws {
    self.program = program
    try await reopen()
  }

  func close() async { await replica.close() }

  // MARK: Copies

  private var backup: String { "\(path)-backup" }

  /// Another machine with a copy of this one's folder, made while the replica was closed.
  func clone(as index: Int, clock: MachineClock) async throws -> Actor {
    let copy = "\(FilePath.folder(of: path))/replica-\(index)"
    await replica.close()
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    replica = try await open()
    return try await Actor(
      index: index, path: copy, clock: clock, incarnations: incarnations, countsStatements: statements != nil,
      tuning: tuning, program: program, owner: owner)
  }

  func backUp() async throws {
    await replica.close()
    try? FileManager.default.removeItem(atPath: backup)
    try FileManager.default.copyItem(atPath: path, toPath: backup)
    replica = try await open()
    backedUp = standing
  }

  /// Puts the last backup in the place of the folder; false when there is none.
  func restore() async throws -> Bool {
    guard backedUp != nil else { return false }
    wasAway = true
    await replica.close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: backup, toPath: path)
    replica = try await open()
    standing = try await replica.standing()
    return true
  }

  // MARK: Crashes

  private static let files = ["database", "database-wal"]
  private var remains: String { "\(path)-remains" }

  /// Runs the body and stops the machine after so many statements of it, at its end when it has fewer. The replica is
  /// opened again from what was on disk then.
  func crashing<Output>(after count: Int, _ body: () async throws -> Output) async throws -> Result<Output, any Error> {
    let (path, remains) = (path, remains)
    try? FileManager.default.removeItem(atPath: remains)
    statements?.arm(after: count) { Self.copyFiles(from: path, to: remains) }
    let result: Result<Output, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    if statements?.disarm() ?? true { Self.copyFiles(from: path, to: remains) }
    await replica.close()
    for file in Self.files + ["database-shm"] { try? FileManager.default.removeItem(atPath: "\(path)/\(file)") }
    for file in Self.files where FileManager.default.fileExists(atPath: "\(remains)/\(file)") {
      try FileManager.default.moveItem(atPath: "\(remains)/\(file)", toPath: "\(path)/\(file)")
    }
    replica = try await open()
    return result
  }

  private static func copyFiles(from path: String, to remains: String) {
    try? FileManager.default.createDirectory(atPath: remains, withIntermediateDirectories: true)
    for file in files { try? FileManager.default.copyItem(atPath: "\(path)/\(file)", toPath: "\(remains)/\(file)") }
  }
}
