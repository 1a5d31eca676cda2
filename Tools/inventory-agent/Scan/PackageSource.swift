import Foundation
import Godwit

/// Where a scan learns of packages.
enum PackageSource: Sendable {
  /// dpkg's record of what is installed.
  case statusFile(String)
  /// A file like those in which an archive lists its packages.
  case availableFile(String)
  /// All that apt could install from the archives it knows.
  case aptCache

  /// Whether it speaks of packages that are not installed.
  var listsAvailable: Bool {
    switch self {
    case .statusFile: false
    case .availableFile, .aptCache: true
    }
  }

  /// Adds the packages to the list, one paragraph in memory at a time.
  ///
  /// - Throws: `fileAccess`; `corruptFile` naming the line; `noPackages` when there are none, since an empty list
  ///   would have a scan delete everything; `aptFailed`.
  func read(into list: inout PackageList, of machine: Machine.ID) throws {
    switch self {
    case .statusFile(let path):
      let count = try Self.read(Self.chunks(of: path), named: path, isStatus: true, into: &list, of: machine)
      guard count > 0 else { throw Self.noPackages(in: path, hint: "name another file with --status-file") }
    case .availableFile(let path):
      let count = try Self.read(Self.chunks(of: path), named: path, isStatus: false, into: &list, of: machine)
      guard count > 0 else { throw Self.noPackages(in: path, hint: "name another file with --available-file") }
    case .aptCache:
      let apt = try AptCache()
      defer { apt.stop() }
      let count = try Self.read(apt.nextChunk, named: "apt-cache", isStatus: false, into: &list, of: machine)
      try apt.finish()
      guard count > 0 else { throw Self.noPackages(in: "apt's lists", hint: "run: apt-get update") }
    }
  }

  private static func read(
    _ nextChunk: @escaping () throws -> [UInt8], named name: String, isStatus: Bool, into list: inout PackageList,
    of machine: Machine.ID
  ) throws -> Int {
    var parser = ControlParser(fields: Package.controlFields, nextChunk: nextChunk)
    var count = 0
    do {
      while let paragraph = try parser.next() {
        try Task.checkCancellation()
        guard !isStatus || paragraph.isInstalledPackage else { continue }
        list.add(try Package(paragraph, of: machine, isInstalled: isStatus))
        count += 1
      }
    } catch let error as ControlSyntaxError {
      throw GodwitError(
        .corruptFile, "\(name), \(error)", hint: "nothing was written; mend the list and scan again", underlying: error)
    }
    return count
  }

  private static func chunks(of path: String) throws -> () throws -> [UInt8] {
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      return { Array(try file.read(upToCount: 65_536) ?? Data()) }
    } catch {
      throw GodwitError(
        .fileAccess, "cannot read \(path)", hint: "is this a Debian system, and may you read the file?",
        underlying: error)
    }
  }

  private static func noPackages(in name: String, hint: String) -> GodwitError {
    GodwitError(.noPackages, "there are no packages in \(name)", hint: hint)
  }
}

extension GodwitError.Code {
  /// A list of packages is empty.
  static let noPackages = Self(rawValue: "noPackages")
  /// apt's lists cannot be read.
  static let aptFailed = Self(rawValue: "aptFailed")
}
