import GodwitBase
import GodwitCrypto
import GodwitKeys
import GodwitModel
import GodwitCore

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
