import Foundation
import GodwitBase
import GodwitEngine
import GodwitFiles

/// Where a sync file is written.
public enum SyncDestination: Sendable {
  /// A file, which appears whole or not at all.
  case file(String)
  /// Files `PATH.001`, `PATH.002` …, none larger than `byteCount`, for media with a size limit. They take their
  /// places once all are complete; volumes of an earlier set under these names are replaced, and those beyond the
  /// last removed. A process that is killed leaves the earlier set or the new one, for those who read them from there.
  case volumes(String, byteCount: Int)
  /// The standard output.
  case standardOutput
}

/// Where a sync file is read from.
public enum SyncSource: Sendable {
  /// A file.
  case file(String)
  /// All volumes of one set, in any order.
  case volumes([String])
  /// The standard input.
  case standardInput
}

extension SyncDestination {
  /// Writes what the body writes: all of it, or nothing when it throws. Also returns the volumes' paths, if any.
  ///
  /// Throws `invalidArgument` or `unsafeFile` for a place where a file of this replica or of another one lies.
  func write<Output>(
    outside folder: ReplicaFolder, _ body: (any ByteSink) throws -> Output
  ) throws -> (output: Output, volumes: [String]) {
    switch self {
    case .file(let path):
      try folder.requireOutside(path)
      try Leftovers.remove(of: path)
      let file = try PendingFile(replacing: path)
      let output = try body(file)
      // What lay there may be another file by now.
      try folder.requireOutside(path)
      try file.commit()
      return (output, [])
    case .volumes(let path, let byteCount):
      let volumes = try VolumeSink(replacing: path, byteCount: byteCount, requirePlace: folder.requireOutside)
      let output = try body(volumes)
      return (output, try volumes.commit())
    case .standardOutput:
      return (try body(FileDescriptor(1, path: "standard output", closes: false)), [])
    }
  }
}

extension SyncSource {
  /// Lends the bytes of the sealed file. When the body fails on volumes, the error names the one that is damaged.
  func read<Output>(_ body: (any ByteSource) throws -> Output) throws -> Output {
    switch self {
    case .volumes(let paths): return try Self.read(VolumeSource(paths), body)
    case .file(let given):
      let path = VolumeExchange.resolve([given]).first ?? given
      let file = try StartedSource(FileDescriptor.openForReading(path), count: VolumeSource.magic.count)
      guard file.start == VolumeSource.magic else { return try body(file) }
      return try Self.read(VolumeSource([path]), body)
    case .standardInput:
      let file = try StartedSource(
        FileDescriptor(0, path: "standard input", closes: false), count: VolumeSource.magic.count)
      guard file.start != VolumeSource.magic else {
        throw GodwitError(
          .invalidArgument, "volumes cannot be read from the standard input", hint: "give all of them as files")
      }
      return try body(file)
    }
  }

  private static func read<Output>(
    _ volumes: VolumeSource, _ body: (any ByteSource) throws -> Output
  ) throws -> Output {
    do {
      return try body(volumes)
    } catch let error as GodwitError {
      throw volumes.explain(error)
    }
  }

  /// The sources that these files are: the volumes of a set together, where the first of them stands, and every other
  /// file alone. What cannot be read, or is no whole volume, stands alone, too; reading it shows why. Pipes are not
  /// looked into. Volumes that an export which was killed has not put in their places are found where they lie.
  public static func grouping(_ paths: [String]) -> [SyncSource] {
    var sources: [SyncSource] = []
    var places: [Identifier128: Int] = [:]
    for path in VolumeExchange.resolve(paths) {
      guard isPlainFile(path), let set = try? VolumeSource.Volume(path).header.set else {
        sources.append(.file(path))
        continue
      }
      if let place = places[set], case .volumes(let others) = sources[place] {
        sources[place] = .volumes(others + [path])
      } else {
        places[set] = sources.count
        sources.append(.volumes([path]))
      }
    }
    return sources
  }

  /// What is read from a pipe is gone from it.
  private static func isPlainFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
