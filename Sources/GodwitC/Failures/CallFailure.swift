import CGodwit
import Godwit

/// What a call returns in place of what it was to do.
struct CallFailure: Error {
  let number: Int32
  /// The number in words.
  let name: String
  let message: String
  let hint: String?

  private init(_ number: Int32, _ name: String, _ message: String, hint: String? = nil) {
    self.number = number
    self.name = name
    self.message = message
    self.hint = hint
  }

  init(_ error: any Error) {
    if let failure = error as? CallFailure {
      self = failure
    } else if let error = error as? GodwitError {
      self.init(ResultCode.number(of: error.code), error.code.rawValue, error.message, hint: error.hint)
    } else if error is CancellationError {
      self.init(GODWIT_CANCELLED, "cancelled", "the work was broken off")
    } else {
      self.init(GODWIT_FAILED, "failed", "\(error)")
    }
  }

  /// The caller has broken a rule of `godwit.h`.
  static func misuse(_ message: String, hint: String? = nil) -> CallFailure {
    CallFailure(GODWIT_MISUSE, "misuse", message, hint: hint)
  }

  /// The replica was opened before a fork.
  static var forked: CallFailure {
    CallFailure(
      GODWIT_FORKED, "forked", "this process is a child of the one that uses Godwit",
      hint: "open the replica after the fork, in each process for itself")
  }
}
