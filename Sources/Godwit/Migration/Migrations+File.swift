import GodwitBase
import GodwitEngine
import GodwitFiles

extension Migrations {
  /// Reads migrations from a file that ``write(to:)`` or `godwit migrate --print` made.
  ///
  /// - Throws: `invalidMigration` for what is no such file, `unsupportedVersion`, `limitExceeded`, `fileAccess`.
  public init(contentsOf path: String) throws { try self.init(reading: .file(path)) }

  /// Reads migrations from a file or the standard input.
  ///
  /// - Throws: As ``init(contentsOf:)``.
  public init(reading source: SyncSource) throws {
    try self.init(json: source.read { try $0.readToEnd(limit: MigrationFile.byteLimit) })
  }

  /// Reads migrations from JSON.
  package init(json: [UInt8]) throws {
    self.init(try MigrationFile(json: json).programMigrations())
    _ = try schemaMigrations()
  }

  /// The migrations as JSON, as Specs/migrations.md describes it. Of data steps that are code it has the
  /// names; of ``Replica/MigrationRoom/known()`` it has the data steps' names and checksums alone, and cannot run them.
  ///
  /// - Throws: `invalidMigration` or `invalidSchema` for steps that make no sense.
  public func json() throws -> String {
    String(decoding: try MigrationFile(self).json(), as: UTF8.self)
  }

  /// Writes the migrations as JSON to a file, which appears whole or not at all. One that is there is replaced when it
  /// holds migrations or nothing.
  ///
  /// - Throws: As ``json()``; `unsafeFile` when something else is there, a replica's file above all; `fileAccess`,
  ///   `diskFull`.
  public func write(to path: String) throws {
    let text = Array(try json().utf8)
    let file = try PendingFile(replacing: path)
    try file.write(text)
    try WrittenPlace(path).requireNoReplicasFile()
    try Self.requireReplaceable(path)
    try file.commit()
  }

  private static func requireReplaceable(_ path: String) throws {
    guard PrivateFile.exists(path) else { return }
    let bytes = try FileDescriptor.openPlainForReading(path).readToEnd(limit: MigrationFile.byteLimit)
    guard !bytes.isEmpty else { return }
    do {
      _ = try MigrationFile(json: bytes)
    } catch let error as GodwitError where error.code != .unsupportedVersion {
      throw GodwitError(
        .unsafeFile, "\(path) holds something else than migrations, and is not replaced",
        hint: "choose another name, or remove it first", underlying: error)
    }
  }
}
