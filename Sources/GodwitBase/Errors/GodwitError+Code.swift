extension GodwitError {
  /// The kind of a failure. The set grows with new versions; switch with a default.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, which stays the same in later versions.
    public let rawValue: String
    /// A kind by its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The name.
    public var description: String { rawValue }
  }
}

extension GodwitError.Code {
  private init(_ rawValue: String) { self.init(rawValue: rawValue) }

  // MARK: Files

  /// A file or folder could not be read or written.
  public static let fileAccess = Self("fileAccess")
  /// A private file or folder is readable by others, is a link, or belongs to somebody else.
  public static let unsafeFile = Self("unsafeFile")
  /// The disk is full.
  public static let diskFull = Self("diskFull")

  // MARK: Database

  /// The library linked at run time is not SQLCipher.
  public static let noCipher = Self("noCipher")
  /// The key does not open this database.
  public static let wrongKey = Self("wrongKey")
  /// The file is an unencrypted SQLite database.
  public static let plaintextDatabase = Self("plaintextDatabase")
  /// The file is not a database.
  public static let notADatabase = Self("notADatabase")
  /// A page of the database is damaged.
  public static let damagedDatabase = Self("damagedDatabase")
  /// Another process or connection holds the lock.
  public static let busy = Self("busy")
  /// A NOT NULL, UNIQUE, CHECK, PRIMARY KEY or FOREIGN KEY rule refused a write.
  public static let constraint = Self("constraint")
  /// A statement does not compile or cannot run.
  public static let sql = Self("sql")
  /// The statement is not allowed here, such as a write in a read-only place.
  public static let notAuthorized = Self("notAuthorized")
  /// The transaction has ended and takes no further work.
  public static let transactionEnded = Self("transactionEnded")
  /// The replica is closed.
  public static let closed = Self("closed")

  // MARK: Models

  /// A stored value cannot be read as the property's type.
  public static let valueMismatch = Self("valueMismatch")
  /// A value cannot be stored, such as NaN.
  public static let valueNotStorable = Self("valueNotStorable")
  /// The declared schema is not one a database can have.
  public static let invalidSchema = Self("invalidSchema")
  /// The database's tables differ from the declared models.
  public static let schemaMismatch = Self("schemaMismatch")
  /// A model was used that the replica was not opened with, or a property that is no column.
  public static let notInSchema = Self("notInSchema")
  /// A part of a Foundation predicate has no counterpart in SQL.
  public static let untranslatablePredicate = Self("untranslatablePredicate")
  /// The replica was opened to be read only.
  public static let readOnly = Self("readOnly")
  /// No row has this key.
  public static let notFound = Self("notFound")
  /// A model breaks rules of its schema; ``GodwitError/violations`` lists them all.
  public static let validationFailed = Self("validationFailed")
  /// Hooks wrote rows whose hooks wrote rows, and so on, beyond the limit.
  public static let hooksTooDeep = Self("hooksTooDeep")

  /// A document is not JSON of the kind that a collection takes; the message has line and column.
  public static let invalidDocument = Self("invalidDocument")

  // MARK: Replica

  /// There is no replica at this path.
  public static let noReplica = Self("noReplica")
  /// There is already a replica at this path.
  public static let replicaExists = Self("replicaExists")
  /// What would be replaced holds transactions that nobody else is known to hold.
  public static let unsentTransactions = Self("unsentTransactions")
  /// The change log or its bookkeeping contradicts itself.
  public static let damagedLog = Self("damagedLog")
  /// The change needs a newer schema than this replica has.
  public static let needsMigration = Self("needsMigration")
  /// Changes meet in a column that only the program's own merge function can merge, and it is not here.
  public static let needsApplication = Self("needsApplication")
  /// Two replicas, or a replica and its program, know different migrations under one number.
  public static let migrationMismatch = Self("migrationMismatch")
  /// A migration is not one that these tables can go through.
  public static let invalidMigration = Self("invalidMigration")
  /// The row waits in limbo for another one, so it cannot be written.
  public static let inLimbo = Self("inLimbo")
  /// The changes of a sync file break a constraint of this replica.
  public static let importConstraint = Self("importConstraint")

  /// The replica, or the member a file is from, lacks what all others hold and have forgotten.
  public static let fenced = Self("fenced")

  // MARK: Keys

  /// The keyring file is missing.
  public static let missingKeyring = Self("missingKeyring")
  /// No key or secret that is offered opens the keyring.
  public static let noKeyFits = Self("noKeyFits")
  /// The keyring is an earlier one than the database has been opened with.
  public static let rolledBackKeyring = Self("rolledBackKeyring")
  /// The keyring file is damaged.
  public static let damagedKeyring = Self("damagedKeyring")
  /// A key or identity is malformed or of an unsafe kind.
  public static let invalidKey = Self("invalidKey")

  /// An identity has not the fingerprint that was given, or none was given to compare it with.
  public static let unverifiedIdentity = Self("unverifiedIdentity")

  // MARK: Sync files

  /// The bytes are not what they claim to be: changed, extended or malformed.
  public static let corruptFile = Self("corruptFile")
  /// The bytes end too early.
  public static let truncatedFile = Self("truncatedFile")
  /// The file is sealed to other recipients.
  public static let notARecipient = Self("notARecipient")
  /// The file's signature does not fit its content.
  public static let invalidSignature = Self("invalidSignature")
  /// The file's sender is not a member of the group.
  public static let unknownSender = Self("unknownSender")
  /// The file is a remote's, and builds on another file there that was not taken in.
  public static let unknownBase = Self("unknownBase")
  /// The file belongs to another group.
  public static let otherGroup = Self("otherGroup")
  /// The file's format or version is not one this version reads.
  public static let unsupportedVersion = Self("unsupportedVersion")
  /// The file goes beyond a limit that protects the reader.
  public static let limitExceeded = Self("limitExceeded")

  // MARK: Remotes

  /// A remote cannot be reached now: a host, a folder that is not mounted, a store that is busy. A later try may do.
  public static let unreachable = Self("unreachable")
  /// A remote refuses: keys, names or addresses do not fit. Somebody has to change something first.
  public static let refused = Self("refused")

  // MARK: Use

  /// An argument makes no sense.
  public static let invalidArgument = Self("invalidArgument")
}
