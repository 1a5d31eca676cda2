import GodwitBase
import GodwitEngine

// What the command line needs beside the public functions.
extension Replica {
  /// Runs the body as ``write(_:)`` does, with all that is checked before a commit, and takes everything back: what a
  /// dry run shows is what would happen.
  ///
  /// - Throws: What ``write(_:)`` throws.
  package func rehearse<Output: Sendable>(
    _ body: @escaping @Sendable (Transaction) throws -> Output
  ) async throws -> Output {
    try await withWriter { try $0.rehearse(body) }
  }

  /// Refuses to write something in the replica's own folder, over its keys that lie elsewhere, and over files of other
  /// replicas (Specs/storage.md, "Files that are written").
  ///
  /// - Throws: `invalidArgument`, `unsafeFile`.
  package func requireOutside(_ file: String) throws { try folder.requireOutside(file) }

  /// Refuses to write something over a file of any replica, or where one may come.
  ///
  /// - Throws: `unsafeFile`.
  package static func requireNoReplicasFile(at file: String) throws { try WrittenPlace(file).requireNoReplicasFile() }
}
