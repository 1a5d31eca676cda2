import Foundation
import Godwit
import ToolSupport

/// The standard input, line by line.
struct ShellInput {
  private static let chunkSize = 1 << 16
  /// How soon a wait on a pipe notices that the user has interrupted it.
  private static let waitMilliseconds: Int32 = 50
  private static let lineByteCountMax = 1 << 20

  /// Whether somebody types the lines.
  let isTerminal = StandardStream.input.isTerminal
  private var buffer: [UInt8] = []
  private var place = 0
  private var hasEnded = false

  /// Asks for a line, on the standard error: it is no data.
  ///
  /// - Parameters:
  ///   - isInside: Whether a statement has begun.
  ///   - onNewLine: Whether something stands on the terminal's line.
  static func prompt(isInside: Bool, onNewLine: Bool = false) {
    guard StandardStream.error.isTerminal else { return }
    try? StandardStream.error.write((onNewLine ? "\n" : "") + (isInside ? "   ...> " : "godwit> "))
  }

  /// Leaves the line of a prompt that was answered with Ctrl-D to the system's shell.
  static func endPrompt() {
    if StandardStream.error.isTerminal { try? StandardStream.error.write("\n") }
  }

  /// The next line with its end, which the last one may lack; nil at the end of the input.
  ///
  /// - Throws: `fileAccess`; `limitExceeded` for a line of more than a mebibyte; `CancellationError`.
  mutating func line() async throws -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      let rest = buffer[place...]
      if let end = rest.firstIndex(of: 0x0A) {
        place = end + 1
        return line + rest[...end]
      }
      line += rest
      (buffer, place) = ([], 0)
      guard line.count <= Self.lineByteCountMax else {
        throw WriteError(GodwitError(.limitExceeded, "a line is longer than \(Self.lineByteCountMax) bytes"))
      }
      guard try await fill() else { return line.isEmpty ? nil : line }
    }
  }

  /// False at the end. That of a terminal ends what was typed on a line at first, and the input only on an empty one.
  private mutating func fill() async throws -> Bool {
    if hasEnded { return false }
    var chunk = [UInt8](repeating: 0, count: Self.chunkSize)
    while true {
      try await wait()
      let count = read(StandardStream.input.rawValue, &chunk, chunk.count)
      if count > 0 {
        buffer = Array(chunk[..<count])
        return true
      }
      if count == 0 {
        hasEnded = true
        return false
      }
      guard errno == EINTR else {
        throw GodwitError(.fileAccess, "cannot read the standard input: \(String(cString: strerror(errno)))")
      }
    }
  }

  /// Until there is something to read. At a terminal that may be hours, and Ctrl-C does not end it.
  private func wait() async throws {
    let descriptor = StandardStream.input.rawValue
    guard isTerminal else {
      var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      repeat { try Task.checkCancellation() } while poll(&awaited, 1, Self.waitMilliseconds) == 0
      return
    }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&awaited, 1, -1) < 0, errno == EINTR {}
        continuation.resume()
      }
    }
  }
}
