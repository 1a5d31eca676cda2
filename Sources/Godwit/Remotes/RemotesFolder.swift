import Foundation
import GodwitBase
import GodwitFiles
import GodwitRemotes

/// The folder in the replica's own where files lie that are on their way to or from a remote. All are sealed.
struct RemotesFolder: Sendable {
  let path: String

  /// What was fetched last.
  var fetched: String { "\(path)/fetched" }

  /// The same of a file that another one builds on.
  var fetchedBase: String { "\(path)/fetched-base" }

  /// The same of a file with an epoch, which may be what another one waits for.
  var fetchedEpoch: String { "\(path)/fetched-epoch" }

  /// All that a pass fetches to.
  var allFetched: [String] { [fetched, fetchedBase, fetchedEpoch] }

  /// What is to be published under a name.
  func spool(_ remote: String, _ name: RemoteName) -> String {
    "\(path)/\(remote).\("\(name)".prefix { $0 != "/" })"
  }

  /// The lock of who syncs: one process at a time.
  ///
  /// - Throws: `busy` when somebody else has it.
  func lock() throws -> LockFile {
    guard let lock = try LockFile("\(path)/lock", isShared: false, waitingMilliseconds: 5_000) else {
      throw GodwitError(.busy, "another process syncs this replica", hint: "wait until it is done")
    }
    for path in allFetched + ["\(path)/sent"] { try Leftovers.remove(of: path) }
    try removeTalks()
    return lock
  }

  /// Where files of talks lie on their way.
  var talk: String { "\(path)/talk" }

  /// Removes what a killed talk left.
  func removeTalks() throws { try Leftovers.remove(of: talk) }

  /// What is to be published at a remote, one file for each folder there.
  private func spools(of remote: String) -> [String] {
    [RemoteName.mailboxes, RemoteName.states, RemoteName.logs, RemoteName.bases, RemoteName.epochs].map {
      "\(path)/\(remote).\($0)"
    }
  }

  /// Removes what a killed pass left under temporary names for a remote.
  func removeLeftovers(of remote: String) throws {
    for spool in spools(of: remote) { try Leftovers.remove(of: spool) }
  }

  /// Removes all that was to be published at a remote.
  func removeSpools(of remote: String) throws {
    try removeLeftovers(of: remote)
    for spool in spools(of: remote) { try Self.remove(spool) }
  }

  static func remove(_ path: String) throws(GodwitError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw .file("remove", path, errno) }
  }

  /// Lends a file with these bytes.
  func sending(_ bytes: [UInt8], _ body: (_ path: String) throws -> Void) throws {
    let file = try PendingFile(replacing: "\(path)/sent")
    try file.write(bytes)
    try body(file.temporaryPath)
  }
}

extension RemoteName {
  /// Throws `invalidArgument` for what cannot be a remote's name here.
  static func check(local name: String) throws(GodwitError) {
    let isPlain = name.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
    }
    guard isPlain, (1...64).contains(name.utf8.count), name.first != "-", name.first != "." else {
      throw GodwitError(
        .invalidArgument, "this cannot be the name of a remote",
        hint: "use 1 to 64 letters, digits, - _ or ., such as home; the place comes behind it")
    }
  }
}
