import Foundation
import GodwitBase
import GodwitEngine
import GodwitFiles

/// Where a sync file is written.
public enum SyncDestination: Sendable {
  /// A file, which appears whole or not at all.
  case file(String)
  /// As many files as it takes for none to be larger than `maximumByteCount`, at least ``leastMaximumByteCount``, for
  /// media with a size limit: the path itself where one is enough, and otherwise `NAME-001.EXTENSION`,
  /// `NAME-002.EXTENSION` … beside it. Each is an ordinary sync file, appears whole or not at all, and is imported by
  /// itself, in any order; one that comes before what it follows on waits.
  ///
  /// A single transaction, a whole state and what another member has signed in one go cannot be cut:
  /// ``/GodwitEngine/ExportReport/File/exceedsLimit`` is set for a file that is larger for that. Files of an earlier
  /// export with greater numbers stay, and are named in ``/GodwitEngine/ExportReport/earlierFiles``.
  case files(String, maximumByteCount: Int)
  /// The standard output.
  case standardOutput

  /// The least size that several files can be given, in bytes: 16 KiB.
  public static let leastMaximumByteCount = 16_384
}

/// Where a sync file is read from.
public enum SyncSource: Sendable {
  /// A file.
  case file(String)
  /// The standard input.
  case standardInput
}

extension SyncDestination {
  /// Writes bytes to one file, whole or not at all, or to the standard output.
  ///
  /// Throws as ``write(_:outside:_:_:)``.
  func write(_ bytes: [UInt8], outside folder: ReplicaFolder) throws {
    switch self {
    case .file(let path), .files(let path, _):
      try Self.replace(path, outside: folder) { sink in
        try sink.write(bytes)
        return true
      }
    case .standardOutput: try FileDescriptor(1, path: "standard output", closes: false).write(bytes)
    }
  }

  /// Writes what an exporter gives: each file whole or not at all.
  ///
  /// Throws `invalidArgument` or `unsafeFile` for a place where a file of this replica or of another one lies.
  func write(
    _ exporter: Exporter, outside folder: ReplicaFolder, _ makeDurable: Replica.MakeDurable,
    _ progress: ProgressHandler?
  ) throws -> ExportReport {
    switch self {
    case .file(let path):
      var report: ExportReport?
      try Self.replace(path, outside: folder) { sink in
        report = try exporter.export(to: sink, makeDurable: makeDurable, progress: progress)
        return true
      }
      return try Self.written(report, at: path)
    case .files(let path, let maximumByteCount):
      let names = NumberedName(path)
      guard maximumByteCount >= Self.leastMaximumByteCount else {
        throw GodwitError(
          .invalidArgument, "files of \(maximumByteCount) bytes at most would hold next to nothing",
          hint: "give a size of 16K or more")
      }
      // Before anything is noted of the export.
      for place in [path, names.path(of: 1)] { try folder.requireOutside(place) }
      var report = try exporter.export(inFilesOf: maximumByteCount, makeDurable: makeDurable, progress: progress) {
        number, body in
        let place = number.map { names.path(of: $0) } ?? path
        try Self.replace(place, outside: folder, body)
        return place
      }
      report.earlierFiles = names.others(than: report.files.map(\.path))
      return report
    case .standardOutput:
      let output = FileDescriptor(1, path: "standard output", closes: false)
      return try exporter.export(to: output, makeDurable: makeDurable, progress: progress)
    }
  }

  /// Puts a file in its place when the body returns true.
  private static func replace(
    _ path: String, outside folder: ReplicaFolder, _ body: (any ByteSink) throws -> Bool
  ) throws {
    try folder.requireOutside(path)
    try Leftovers.remove(of: path)
    let file = try PendingFile(replacing: path)
    guard try body(file) else { return }
    // What lay there may be another file by now.
    try folder.requireOutside(path)
    try file.commit()
  }

  private static func written(_ report: ExportReport?, at path: String) throws -> ExportReport {
    guard var report else { throw GodwitError(.fileAccess, "nothing was written to \(path)") }
    report.files = [
      ExportReport.File(path: path, transactions: report.transactions, bytes: report.bytes, exceedsLimit: false)
    ]
    return report
  }
}

extension SyncSource {
  /// Lends the bytes of the sealed file.
  func read<Output>(_ body: (any ByteSource) throws -> Output) throws -> Output {
    switch self {
    case .file(let path): try body(FileDescriptor.openForReading(path))
    case .standardInput: try body(FileDescriptor(0, path: "standard input", closes: false))
    }
  }
}
