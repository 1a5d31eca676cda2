import CSQLCipher
import GodwitBase

/// A SQL function of Godwit's that says yes or no. A throw fails the statement.
package protocol SQLPredicate: AnyObject {
  func holds(_ arguments: borrowing FunctionArguments) throws -> Bool
}

extension Connection {
  /// Registers the predicate under `name`, as long as the connection lives. One that is open may be called by a
  /// program's statements, too.
  ///
  /// - Parameter argumentCount: How many arguments it takes: a statement with another number is refused. Nil for any.
  package func register(
    _ predicate: any SQLPredicate, as name: String, argumentCount: Int? = nil, isOpen: Bool = false
  ) throws {
    if isOpen { authorizer.openFunctions.insert(name) }
    let box = PredicateBox(predicate, failure: functionFailure)
    retain(box)
    let result = sqlite3_create_function_v2(
      handle, name, argumentCount.map(Int32.init) ?? -1, SQLITE_UTF8, Unmanaged.passUnretained(box).toOpaque(),
      { context, count, values in
        guard let context, let user = sqlite3_user_data(context) else { return }
        let box = Unmanaged<PredicateBox>.fromOpaque(user).takeUnretainedValue()
        do {
          let holds = try box.predicate.holds(FunctionArguments(count: Int(count), values: values))
          sqlite3_result_int(context, holds ? 1 : 0)
        } catch {
          box.failure.error = error
          sqlite3_result_error(context, "\(error)", -1)
        }
      }, nil, nil, nil)
    guard result == SQLITE_OK else { throw failure(result) }
  }
}

private final class PredicateBox {
  let predicate: any SQLPredicate
  let failure: FunctionFailure

  init(_ predicate: any SQLPredicate, failure: FunctionFailure) {
    self.predicate = predicate
    self.failure = failure
  }
}
