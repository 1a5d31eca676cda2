import GodwitBase
import GodwitFiles

/// Where a sync file is written.
public enum SyncDestination: Sendable {
  /// A file, which appears whole or not at all.
  case file(String)
  /// The standard output.
  case standardOutput
}

/// Where a sync file is read from.
public enum SyncSource: Sendable {
  /// A file.
  case file(String)
  /// The standard input.
  case standardInput

  func open() throws -> FileDescriptor {
    switch self {
    case .file(let path): try FileDescriptor.openForReading(path)
    case .standardInput: FileDescriptor(0, path: "standard input", closes: false)
    }
  }
}

/// Hears how much of the work is done, from 0 to 1, never backwards.
public typealias ProgressHandler = @Sendable (Double) -> Void
