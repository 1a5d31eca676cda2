import Foundation
import GodwitBase
import GodwitCrypto
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

extension Replica {
  /// The places that keep sync files for the group: folders, and buckets of object stores.
  public struct Remotes: Sendable {
    let replica: Replica
  }

  /// The places that keep sync files for the group, which
  /// ``sync(with:isRejoining:isCollecting:maximumBytesPerSecond:progress:)`` uses.
  public var remotes: Remotes { Remotes(replica: self) }

  /// A place that keeps sync files for the group. Nobody trusts it, and it is never the only copy of anything.
  public struct Remote: Sendable, Hashable, Identifiable {
    /// What this replica calls it.
    public let name: String
    /// As it was added, in one form: a folder's absolute path, or a URL. It holds no secret.
    public let url: String
    /// When it was added here.
    public let addedAt: Date
    /// When everything was last fetched and published there; nil before that.
    public let syncedAt: Date?
    /// What is wrong with it; nil when the last sync was whole.
    public let problem: Problem?
    /// What was found there last that this replica had not left so; nil when nothing ever was.
    public let found: Found?
    /// Files of members that were fetched and refused, and are there still as they were. Nothing of them was taken.
    public let refused: [Refusal]

    /// The name.
    public var id: String { name }

    /// What is wrong with a remote.
    public struct Problem: Sendable, Hashable {
      /// The error's code.
      public let code: GodwitError.Code
      /// The error's message.
      public let message: String
      /// Since when each sync has met this code.
      public let since: Date
    }

    /// A file that stays refused.
    public struct Refusal: Sendable, Hashable {
      /// Its name at the remote.
      public let file: String
      /// What it was refused for.
      public let code: GodwitError.Code
      /// When it was refused last.
      public let at: Date
    }

    /// How a remote once differed from what this replica had left there. Nothing was lost by it.
    public struct Found: Sendable, Hashable {
      /// What was found.
      public let findings: Set<SyncReport.Finding>
      /// When.
      public let at: Date
    }
  }

  /// What was found when a remote was tested.
  public struct RemoteTest: Sendable, Hashable {
    /// Whether the store keeps a file from being replaced by one who asks to write it only where there is none. Nil for
    /// a folder, where nobody asks. Godwit does not depend on it.
    public let honoursConditions: Bool?
  }
}

extension Replica.Remotes {
  /// All of them, by their names.
  public func list() async throws -> [Replica.Remote] {
    try await replica.pool.read { try Replica.Remote.all(RemoteNotes($0)) }
  }

  /// Adds a remote, and writes the group's marker there where there is none.
  ///
  /// - Parameters:
  ///   - name: What this replica is to call it: 1 to 64 letters, digits, `-`, `_` or `.`.
  ///   - url: A folder's path or `file:///PATH`, and the folder is made where the one above it is there;
  ///     `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`; `ssh://[USER@]HOST[:PORT]/PATH` of a replica on another host;
  ///     or `unix:///SOCKET` of one that is served on this machine. Keys to a bucket come from the environment or from
  ///     AWS's files (Specs/remotes.md, "URLs").
  /// - Throws: `invalidArgument` for a name that is taken by another place or cannot be one, for a place that another
  ///   remote has or that is this replica's own folder, and for a URL that is none or holds a secret; `unsafeFile`;
  ///   `otherGroup`, `unsupportedVersion` or `corruptFile` for the remote of another group or version; `unreachable`,
  ///   `refused`, `fileAccess`, `diskFull`, `readOnly`.
  @discardableResult
  public func add(_ name: String, at url: String) async throws -> Replica.Remote {
    try RemoteName.check(local: name)
    let place = try RemoteURL(url)
    return try await replica.withRemotesFolder { try await add(name, at: place, by: $0) }
  }

  private func add(_ name: String, at place: RemoteURL, by folder: RemotesFolder) async throws -> Replica.Remote {
    let all = try await replica.pool.read { try RemoteNotes($0).list() }
    if case .folder(let path) = place {
      // One that is not there yet is judged by the folder that it is made in.
      for written in [path, "\(path)/\(RemoteName.marker)"] { try replica.folder.requireOutside(written) }
    }
    if let other = all.first(where: { $0.name != name && place.isSame(as: $0.url) }) {
      throw GodwitError(
        .invalidArgument, "the remote \(other.name) is at this place already",
        hint: "to call it otherwise, first: godwit remote remove \(other.name)")
    }
    let known = all.first { $0.name == name }
    guard known.map({ place.isSame(as: $0.url) }) ?? true else {
      throw GodwitError(
        .invalidArgument, "there is a remote \(name) already, at \(known?.url ?? "")",
        hint: "give another name, or first: godwit remote remove \(name)")
    }
    var remote = known ?? RemoteNotes.Remote(name: name, url: place.text, addedAt: replica.wallClock.milliseconds())
    // A bucket may be reached in another region, or by other certificates.
    if case .bucket = place { remote.url = place.text }
    let (added, marker) = (remote, RemoteMarker(replica.group))
    try await replica.carrying { meter in
      // A host keeps no marker: the replica there says whose it is, at the first sync.
      guard let carrier = try place.carrier() else { return }
      if case .folder(let path) = place { try FolderCarrier(path).makeRoot() }
      if try !marker.check(on: carrier, meter: meter) { try marker.write(to: carrier, by: folder, meter: meter) }
    }
    try await replica.noting { try $0.save(added) }
    return Replica.Remote(added, refused: [])
  }

  /// Forgets a remote and all that is known of it. What lies there stays.
  ///
  /// - Throws: `invalidArgument` for a name that none has.
  public func remove(_ name: String) async throws {
    try await replica.withRemotesFolder { folder in
      let remote = try await remote(named: name)
      try await replica.noting { try $0.remove(remote.name) }
      try await BlockingThread.run { try folder.removeSpools(of: remote.name) }
    }
  }

  /// Reads the marker, and writes, lists, reads and deletes a file of a few bytes.
  ///
  /// - Throws: `invalidArgument` for a name that none has; otherwise as ``add(_:at:)``.
  public func test(_ name: String) async throws -> Replica.RemoteTest {
    let place = try RemoteURL(try await remote(named: name).url)
    let folder = try await replica.remotesFolder()
    let marker = RemoteMarker(replica.group)
    return try await replica.carrying { meter in
      guard let carrier = try place.carrier() else {
        throw GodwitError(.invalidArgument, "a host keeps no files, a replica there talks", hint: "run: godwit sync")
      }
      guard try marker.check(on: carrier, meter: meter) else { throw GodwitError.markerMissing(name, place.text) }
      return Replica.RemoteTest(honoursConditions: try RemoteProbe(carrier).run(by: folder, meter: meter))
    }
  }

  func remote(named name: String) async throws -> RemoteNotes.Remote {
    let all = try await replica.pool.read { try RemoteNotes($0).list() }
    guard let remote = all.first(where: { $0.name == name }) else { throw GodwitError.noRemote(name, among: all) }
    return remote
  }
}

extension Replica {
  /// A folder of this replica's for files on their way.
  func remotesFolder() async throws -> RemotesFolder {
    let path = "\(folder.path)/remotes"
    try requireOpen()
    return try await BlockingThread.run {
      try PrivateFile.makeFolder(path)
      return RemotesFolder(path: path)
    }
  }

  /// Lends that folder while no other process syncs this replica.
  ///
  /// - Throws: `busy` when one does.
  func withRemotesFolder<Output>(_ body: (RemotesFolder) async throws -> Output) async throws -> Output {
    let folder = try await remotesFolder()
    let lock = try await BlockingThread.run { try folder.lock() }
    defer { withExtendedLifetime(lock) {} }
    return try await body(folder)
  }

  /// Runs calls of a carrier on a thread that may block; a cancelled task ends them.
  func carrying<Output: Sendable>(
    pace: TransferPace? = nil, _ handler: (@Sendable (Int) -> Void)? = nil,
    _ body: @escaping @Sendable (TransferMeter) throws -> Output
  ) async throws -> Output {
    let meter = TransferMeter(pace: pace, handler)
    return try await withTaskCancellationHandler {
      try await BlockingThread.run { try body(meter) }
    } onCancel: {
      meter.cancel()
    }
  }

  /// Changes what is noted of remotes.
  func noting(_ body: @escaping @Sendable (RemoteNotes) throws -> Void) async throws {
    try await withWriter { writer in
      try writer.connection.writing { try body(RemoteNotes(writer.connection)) }
    }
  }
}

extension Replica.Remote {
  /// All of them, by their names.
  static func all(_ notes: RemoteNotes) throws -> [Replica.Remote] {
    try notes.list().map { Replica.Remote($0, refused: try notes.refusals(of: $0.name)) }
  }

  init(_ remote: RemoteNotes.Remote, refused: [RemoteNotes.Refusal]) {
    self.init(
      name: remote.name, url: remote.url, addedAt: Date(milliseconds: remote.addedAt),
      syncedAt: remote.syncedAt.map { Date(milliseconds: $0) },
      problem: remote.problem.map {
        Problem(
          code: GodwitError.Code(rawValue: $0.code), message: $0.message, since: Date(milliseconds: $0.since))
      },
      found: remote.found.map {
        Found(
          findings: Set($0.names.compactMap(Replica.SyncReport.Finding.init)), at: Date(milliseconds: $0.at))
      },
      refused: refused.map {
        Refusal(file: $0.name, code: GodwitError.Code(rawValue: $0.code), at: Date(milliseconds: $0.at))
      })
  }
}

extension GodwitError {
  static func noRemote(_ name: String, among all: [RemoteNotes.Remote]) -> GodwitError {
    GodwitError(
      .invalidArgument, "there is no remote \(name)",
      hint: all.isEmpty
        ? "add one: godwit remote add NAME URL" : "there are: \(all.map(\.name).joined(separator: ", "))")
  }

  /// A folder without the marker that was there is a stick that is not mounted, more likely than one that was emptied.
  static func markerMissing(_ name: String, _ url: String) -> GodwitError {
    GodwitError(
      .unreachable, "the remote \(name) has no marker any more: it is not mounted, or was emptied",
      hint: "mount it; if it was emptied: godwit remote add \(name) \(ShellWord.quoted(url))")
  }
}
