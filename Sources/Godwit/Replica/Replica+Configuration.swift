import GodwitBase
import GodwitEngine
import Logging

extension Replica {
  /// How a replica is opened. Every property has a default, which serves a program that has no migrations and keeps
  /// its keys beside its database.
  ///
  /// ```swift
  /// let replica = try await Replica.open(at: "notes", models: Note.self, configuration: .init(migrations: migrations))
  /// ```
  public struct Configuration: Sendable {
    /// What a new replica is called among the members, at most 64 bytes; by default the folder's name. One that exists
    /// keeps its name.
    public var name: String?
    /// Where the keys are, and what opens them; by default a keyring and a machine key file in the replica's folder.
    public var key: KeySource
    /// How the tables came to be, version by version: those that have not run here run at opening, all or none. Or
    /// what may be done to tables that differ from their models; nothing by default.
    public var migrations: Migrations
    /// Called while opening runs migrations and applies what had waited for their versions, with how much has been
    /// applied of all that waits. That may be what others have written for months. Nil by default.
    public var migrationProgress: ProgressHandler?
    /// Whether the replica must be there already: where none is, opening throws `noReplica` and makes nothing. False by
    /// default.
    public var mustExist: Bool
    /// Whether the replica only reads. It must be there then; missing tables are not made, and whatever would write
    /// throws `readOnly`. Other processes may write meanwhile. The folder must be writable all the same, for readers of
    /// a write-ahead log share an index in it. False by default.
    public var isReadOnly: Bool
    /// Whether a new replica has hybrid keys (ML-KEM-768 with X25519), and so all members of its group. False by
    /// default; one that exists keeps its kind.
    public var isPostQuantum: Bool
    /// After how long without use the files are closed; the next use opens them again, which takes some milliseconds.
    /// Nil, the default, keeps them open until ``Replica/close()``.
    public var idleTimeout: Duration?
    /// Which SQL statements the logger gets; none by default.
    public var statements: StatementLog
    /// Gets opening, imports, exports and statements at level `debug`; by default one with the label `godwit`.
    public var logger: Logger

    /// Makes a configuration of the properties that differ from their defaults.
    public init(
      name: String? = nil, key: KeySource = .keyring(), migrations: Migrations = .none,
      migrationProgress: ProgressHandler? = nil, mustExist: Bool = false, isReadOnly: Bool = false,
      isPostQuantum: Bool = false, idleTimeout: Duration? = nil, statements: StatementLog = .none,
      logger: Logger = Logger(label: "godwit")
    ) {
      self.name = name
      self.key = key
      self.migrations = migrations
      self.migrationProgress = migrationProgress
      self.mustExist = mustExist
      self.isReadOnly = isReadOnly
      self.isPostQuantum = isPostQuantum
      self.idleTimeout = idleTimeout
      self.statements = statements
      self.logger = logger
    }
  }
}
