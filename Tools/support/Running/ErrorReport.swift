import Godwit

/// A failure as people read it: `NAME: error: …`, then `NAME: hint: …`.
public struct ErrorReport: Sendable {
  /// The exit code it leads to.
  public let status: Int32
  private let message: String
  private let hint: String?

  /// A failure in words of the caller's.
  public init(status: Int32, message: String, hint: String? = nil) {
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// A failure of the library, or any other.
  public init(_ error: any Error) {
    if let error = error as? GodwitError {
      self.init(status: ExitStatus.code(for: error.code), message: error.message, hint: error.hint)
    } else {
      self.init(status: ExitStatus.failed, message: "\(error)")
    }
  }

  /// Writes it to the standard error.
  public func write(program: String) {
    let stream = StandardStream.error
    let label = stream.takesColor ? "\u{1B}[1;31merror:\u{1B}[0m" : "error:"
    // A difference between migrations has a line for each step.
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { Format.printable(String($0)) }
    var text = "\(program): \(label) \(lines.joined(separator: "\n  "))\n"
    if let hint { text += "\(program): hint: \(Format.printable(hint))\n" }
    try? stream.write(text)
  }
}
