import GodwitBase
import GodwitStorage

/// The SQL function that distinguishes true and false from numbers: they are stored as the real numbers 1.0 and 0.0
/// (Specs/documents.md, "Values"), and −0, which SQL holds equal to 0.0, is a number.
package final class TruthCheck: SQLPredicate {
  package static let name = "godwit_is_bool"

  package func holds(_ arguments: borrowing FunctionArguments) throws -> Bool {
    if case .bool = DocumentCell.json(of: try arguments.value(0)) { true } else { false }
  }

  /// Makes the function known to a connection, and to the SQL of its program: a request's text calls it.
  package static func register(on connection: Connection) throws {
    try connection.register(TruthCheck(), as: name, argumentCount: 1, isOpen: true)
  }
}
