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
    if let error = (error as? WriteError)?.error {
      // What goes beyond a limit is no file that somebody has tampered with.
      let status = error.code == .limitExceeded ? ExitStatus.failed : ExitStatus.code(for: error.code)
      self.init(status: status, message: error.message, hint: error.hint)
    } else if let error = error as? GodwitError {
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

/// A failure of the library that came of what the user asked to be written or found, and not of a file's bytes.
public struct WriteError: Error {
  let error: GodwitError

  /// Of that failure.
  public init(_ error: GodwitError) { self.error = error }

  /// Runs what fails so.
  public static func wrapping<Output>(_ body: () async throws -> Output) async throws -> Output {
    do {
      return try await body()
    } catch let error as GodwitError {
      throw WriteError(error)
    }
  }
}
