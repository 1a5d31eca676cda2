import Foundation
import Godwit

/// One of the three streams every program starts with.
public enum StandardStream: Int32, Sendable {
  case input, output, error

  /// Gives a stream that the parent process has closed a descriptor that fails, so that no file or pipe of this
  /// process's takes its number.
  static func fillClosed() {
    for (stream, flags) in [(Self.input, O_WRONLY), (.output, O_RDONLY), (.error, O_RDONLY)]
    where fcntl(stream.rawValue, F_GETFD) < 0 {
      // The least number that is free, which is this one.
      _ = open("/dev/null", flags)
    }
  }

  /// Whether a person sits at its other end.
  public var isTerminal: Bool { isatty(rawValue) == 1 }

  /// Whether colours may be used: a terminal that has them, and `NO_COLOR` (no-color.org) unset or empty.
  public var takesColor: Bool {
    let environment = ProcessInfo.processInfo.environment
    return isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// Writes all of the text.
  ///
  /// - Throws: `diskFull` or `fileAccess`.
  public func write(_ text: String) throws {
    var text = text
    let failure = text.withUTF8 { bytes -> Int32 in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Foundation.write(rawValue, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
    guard failure == 0 else {
      throw GodwitError(
        failure == ENOSPC ? .diskFull : .fileAccess, "cannot write \(name): \(String(cString: strerror(failure)))")
    }
  }

  /// Reads to the end.
  ///
  /// - Throws: `limitExceeded` beyond `limit` bytes, `fileAccess`.
  public func readToEnd(limit: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(rawValue, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += chunk[..<count]
        guard bytes.count <= limit else { throw GodwitError(.limitExceeded, "\(name) is longer than \(limit) bytes") }
      } else if errno != EINTR {
        throw GodwitError(.fileAccess, "cannot read \(name): \(String(cString: strerror(errno)))")
      }
    }
  }

  private var name: String {
    switch self {
    case .input: "the standard input"
    case .output: "the standard output"
    case .error: "the standard error"
    }
  }
}
