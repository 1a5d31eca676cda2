import Foundation
import GodwitBase
import GodwitEngine
import GodwitFiles
import GodwitModel

extension Replica {
  /// Two replicas of one group in folders that go with them, for the tests of a program that syncs.
  ///
  /// ```swift
  /// let pair = try await Replica.pair(models: Note.self)
  /// try await pair.first.write { try $0.insert(note) }
  /// try await pair.exchange()
  /// let there = try await pair.second.fetch(Note.self, key: note.id)
  /// await pair.close()
  /// ```
  public struct Pair: Sendable {
    /// The replica that founded the group; it is called `first` there.
    public let first: Replica
    /// The replica that joined it; it is called `second` there.
    public let second: Replica
    private let folder: TemporaryFolder

    fileprivate init(first: Replica, second: Replica, folder: TemporaryFolder) {
      self.first = first
      self.second = second
      self.folder = folder
    }

    /// Hands what each holds to the other, so that both hold the same afterwards. The files are real: sealed, signed
    /// and gone when both have been read.
    ///
    /// - Returns: What the import did on each side.
    /// - Throws: What ``Replica/export(to:for:includesAll:progress:)`` and ``Replica/import(from:progress:)`` throw.
    @discardableResult
    public func exchange() async throws -> (first: MergeReport, second: MergeReport) {
      let there = try await send(from: first, to: second)
      return (try await send(from: second, to: first), there)
    }

    private func send(from sender: Replica, to receiver: Replica) async throws -> MergeReport {
      let file = "\(folder.path)/\(UUID().uuidString).godwit-sync"
      defer { unlink(file) }
      _ = try await sender.export(to: .file(file))
      return try await receiver.import(from: .file(file))
    }

    /// Closes both, and removes their folders.
    public func close() async {
      await first.close()
      await second.close()
      folder.remove()
    }
  }

  /// Opens two new replicas of one group, with the same models.
  ///
  /// - Parameters:
  ///   - models: The models of both.
  ///   - parent: Where their folders are made; by default the system's place for temporary files.
  ///   - configuration: How both are opened. Their names are `first` and `second`.
  /// - Throws: As `open(at:models:configuration:)`; then nothing is left.
  public static func pair(
    models: any Model.Type..., in parent: String = NSTemporaryDirectory(),
    configuration: Configuration = Configuration()
  ) async throws -> Pair {
    let folder = TemporaryFolder(in: parent)
    do {
      return try await pair(in: folder, models, configuration)
    } catch {
      folder.remove()
      throw error
    }
  }

  private static func pair(
    in folder: TemporaryFolder, _ models: [any Model.Type], _ configuration: Configuration
  ) async throws -> Pair {
    let (place, invitation) = ("\(folder.path)/second", "\(folder.path)/invitation")
    var configuration = configuration
    configuration.name = "first"
    let first = try await open(at: "\(folder.path)/first", models: models, configuration: configuration)
    do {
      let invited = try await identity(at: place, key: configuration.key, postQuantum: configuration.isPostQuantum)
      try await first.members.invite(
        invited, name: "second", verification: .fingerprint(invited.fingerprint), to: .file(invitation))
      let joined = try await join(
        at: place, invitation: .file(invitation), inviter: .fingerprint(first.identity.fingerprint),
        key: configuration.key)
      await joined.close()
      let second = try await open(at: place, models: models, configuration: configuration)
      return Pair(first: first, second: second, folder: folder)
    } catch {
      await first.close()
      throw error
    }
  }
}
