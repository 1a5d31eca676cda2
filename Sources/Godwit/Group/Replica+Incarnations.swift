import Foundation
import GodwitBase
import GodwitCore
import GodwitEngine
import GodwitStorage

extension Replica.Members {
  /// The incarnations of all members, those that were removed included, or of one.
  ///
  /// - Parameter name: What the member is called, its replica ID, or the first digits of that.
  /// - Throws: `invalidArgument` when that is no member, or several.
  public func incarnations(of name: String? = nil) async throws -> [Incarnation] {
    let replicas = try await replicas(named: name)
    return try await replica.pool.read { connection in
      let log = try ChangeLog(connection)
      let known = try KnownIncarnations(log, on: connection)
      let ended = log.origins.ended
      return known.all.filter { replicas.contains($0.replica) }.map { origin in
        Incarnation(
          replica: origin.replica, id: origin.incarnationID, isOwn: origin == log.origins.own,
          hasEnded: ended[origin] != nil, transactions: log.origins.vector[origin].rawValue,
          lastStated: known.records[origin].map { Date(milliseconds: $0.stated.milliseconds) })
      }
    }
  }

  /// Says that an incarnation writes no more: a machine that is gone, or a database of which only a copy is still used.
  /// The others learn of it with the next sync file. Should it live on after all, it takes a new incarnation as soon as
  /// it learns of its end, and what it wrote until then is taken once its file says how far it went.
  ///
  /// - Parameters:
  ///   - incarnation: The incarnation.
  ///   - name: What its member is called, its replica ID, or the first digits of that.
  /// - Throws: `invalidArgument` when there is no such member or incarnation, or it is the one that writes here.
  public func end(_ incarnation: Incarnation.ID, of name: String) async throws {
    let replicas = try await replicas(named: name)
    try await replica.withWriter { writer in
      try writer.inTransaction {
        let known = try KnownIncarnations(writer.log, on: writer.connection)
        let origins = writer.log.origins
        guard
          let origin = known.all.first(where: { replicas.contains($0.replica) && $0.incarnationID == incarnation })
        else {
          throw GodwitError(
            .invalidArgument, "\(name) has no incarnation \(incarnation)", hint: "see: godwit member incarnations")
        }
        guard origin != origins.own else {
          throw GodwitError(
            .invalidArgument, "\(incarnation) is the incarnation that writes here",
            hint: "end it on another member's machine")
        }
        try origins.end(origin)
        // Who lives and holds what it wrote beyond its end brings that again.
        _ = try StagedTransactions(connection: writer.connection).removeBeyond(origins.ended)
        try RemoteNotes(writer.connection).forgetTaken()
      }
    }
  }

  private func replicas(named name: String?) async throws -> Set<ReplicaID> {
    guard let name else { return Set(try await list().map(\.identity.replica)) }
    return [try await member(named: name).identity.replica]
  }
}
