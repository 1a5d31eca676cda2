import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitModel
import GodwitCore

/// Writes rows, as the last part of a migration.
///
/// What it writes to synced tables is a transaction like any other: it is logged and travels. The step itself never
/// does: other replicas know its name and checksum, and run it when their program brings it, or somebody gives them the
/// migration file. Every replica runs it, after it has taken in all that others have sent it of this version. So write
/// only what is still to do (`WHERE slug IS NULL`), and the same whatever replica does it.
public struct DataStep: MigrationStep {
  private let name: String
  private let work: DataStepWork

  /// SQL statements, one after another. They are what the checksum covers.
  public init(_ name: String, _ statements: SQL...) {
    self.name = name
    work = .sql(statements)
  }

  /// The program's own code. The checksum covers its name alone, and only the program itself can run it.
  public init(_ name: String, _ body: @escaping @Sendable (Transaction) throws -> Void) {
    self.name = name
    work = .code(body)
  }

  /// The step as data.
  public func _draft() throws -> MigrationStepDraft {
    MigrationStepDraft(.data(try work.step(named: name)), work: work)
  }
}

/// What a data step does.
enum DataStepWork: Sendable {
  case sql([SQL])
  case code(@Sendable (Transaction) throws -> Void)

  static let statementLimit = 1_024
  static let statementByteLimit = 1 << 16

  /// The step as it is recorded and travels. Throws `limitExceeded`, `invalidMigration` for SQL without a statement,
  /// and what a value of a statement could not be stored for.
  func step(named name: String) throws -> SchemaStep.DataWork {
    switch self {
    case .code: SchemaStep.DataWork(name: name, isCode: true, digest: SchemaStep.DataWork.digest(ofCode: name))
    case .sql(let statements):
      SchemaStep.DataWork(name: name, isCode: false, digest: try Self.digest(of: statements, name))
    }
  }

  private static func digest(of statements: [SQL], _ name: String) throws -> [UInt8] {
    guard !statements.isEmpty else {
      throw GodwitError(
        .invalidMigration, "the data step \"\(name)\" has no statement", hint: "give it SQL or code, or leave it out")
    }
    guard statements.count <= statementLimit, statements.allSatisfy({ $0.text.utf8.count <= statementByteLimit }) else {
      throw GodwitError(
        .limitExceeded,
        "the data step \"\(name)\" has more than \(statementLimit) statements, or a longer one than "
          + "\(statementByteLimit) bytes", hint: "split it, or do its work in code")
    }
    var writer = ByteWriter()
    writer.varint(statements.count)
    for sql in statements {
      if let failure = sql.failure { throw failure }
      writer.string(sql.text)
      writer.varint(sql.values.count)
      for value in sql.values { writer.value(value) }
    }
    return writer.bytes.withUnsafeBytes { ContentHash(of: $0) }.bytes
  }
}
