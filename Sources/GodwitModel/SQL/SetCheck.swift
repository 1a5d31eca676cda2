import GodwitBase
import GodwitCore
import GodwitStorage

/// The SQL function by which set columns check that they hold a set in its one form (Specs/merge.md, "Policies").
package final class SetCheck: SQLFunction {
  static let name = "godwit_is_set"

  package func call(_ arguments: borrowing FunctionArguments) throws {
    guard SetElements.isCanonical(try arguments.value(0)) else {
      throw GodwitError(
        .constraint, "a set column holds a JSON array of different elements, in the order of their bytes",
        hint: "write sets through a model, or as Godwit stores them")
    }
  }

  /// Makes the function known to a connection.
  package static func register(on connection: Connection) throws {
    try connection.register(SetCheck(), as: name)
  }
}
