import Godwit

/// The machines and packages of a replica.
struct Inventory: Sendable {
  let replica: Replica

  /// Opens a replica that is there already, with the agent's models.
  ///
  /// - Throws: `noReplica` when there is none, and what `Replica.open` throws.
  static func open(at path: String, key: Replica.KeySource) async throws -> Inventory {
    // An agent pointed at the wrong folder must not make a replica there.
    Inventory(
      replica: try await Replica.open(
        at: path, models: Machine.self, Package.self, configuration: .init(key: key, mustExist: true)))
  }

  /// Waits for running work and closes the files.
  func close() async { await replica.close() }
}
