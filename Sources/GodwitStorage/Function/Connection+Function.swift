import CSQLCipher
import GodwitBase

/// A SQL function implemented by Godwit. It returns nothing to SQL; a throw fails the statement.
package protocol SQLFunction: AnyObject {
  func call(_ arguments: borrowing FunctionArguments) throws
}

extension Connection {
  /// SQLITE_INNOCUOUS: checks and triggers of Godwit's own call them, in a schema that is not trusted. Who else may
  /// call them is the authorizer's to say.
  private static var innocuous: Int32 { libraryVersion >= LibraryVersion.innocuous ? 0x20_0000 : 0 }

  /// Registers the function under `name`, for any number of arguments, as long as the connection lives.
  /// A program's statements cannot call it.
  package func register(_ function: any SQLFunction, as name: String) throws {
    let box = FunctionBox(function, failure: functionFailure)
    retain(box)
    let result = sqlite3_create_function_v2(
      handle, name, -1, SQLITE_UTF8 | Self.innocuous, Unmanaged.passUnretained(box).toOpaque(),
      { context, count, values in
        guard let context, let user = sqlite3_user_data(context) else { return }
        let box = Unmanaged<FunctionBox>.fromOpaque(user).takeUnretainedValue()
        do {
          try box.function.call(FunctionArguments(count: Int(count), values: values))
        } catch {
          // It always fails the statement, whose error it then is.
          box.failure.error = error
          sqlite3_result_error(context, "\(error)", -1)
        }
      }, nil, nil, nil)
    guard result == SQLITE_OK else { throw failure(result) }
    authorizer.closedFunctions.insert(name.lowercased())
  }
}

private final class FunctionBox {
  let function: any SQLFunction
  let failure: FunctionFailure

  init(_ function: any SQLFunction, failure: FunctionFailure) {
    self.function = function
    self.failure = failure
  }
}

/// What a function has thrown, on its way through SQLite, which carries words only.
final class FunctionFailure {
  var error: (any Error)?

  func take() -> (any Error)? {
    defer { error = nil }
    return error
  }
}
