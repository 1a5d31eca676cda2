import Foundation
import GodwitBase
import GodwitFiles
import GodwitKeys
import GodwitRemotes

/// Requests and invitations at a remote (Specs/remotes.md, "Joining"). Its calls block.
struct JoinDesk: Sendable {
  private static let start = "godwit request 1\n"
  /// A post-quantum identity has some 2,050 characters.
  private static let requestLimit = 4_096
  private static let requestCount = 1_000

  private let carrier: any Carrier
  private let folder: RemotesFolder

  init(_ carrier: any Carrier, _ folder: RemotesFolder) {
    self.carrier = carrier
    self.folder = folder
  }

  /// Where an invitation lies on its way.
  func file(for replica: ReplicaID) -> String { "\(folder.path)/invitation-\(replica)" }

  /// What lies at a place without a marker nobody would look at.
  func requireMarker(at place: String) throws {
    // By GET, to which a store says why not: an answer to HEAD has no room for that.
    let name = "\(RemoteName.marker)"
    guard try carrier.read(name, into: MemorySink(), limit: RemoteMarker.byteLimit, meter: TransferMeter()) == nil
    else { return }
    let hint = "on a member's machine first: godwit remote add NAME URL"
    throw GodwitError(
      carrier.mayBeAway ? .unreachable : .refused, "no group has its remote at \(place)",
      hint: carrier.mayBeAway ? "mount it, or \(hint)" : hint)
  }

  // MARK: For who would join

  /// The path of a file with the invitation, or nil.
  func invitation(for replica: ReplicaID) throws -> String? {
    try PrivateFile.makeFolder(folder.path)
    let path = file(for: replica)
    let pending = try PendingFile(replacing: path)
    let name = "\(RemoteName.invitation(replica))"
    guard try carrier.read(name, into: pending, limit: Invitation.byteLimit, meter: TransferMeter()) != nil else {
      return nil
    }
    try pending.commit()
    return path
  }

  func put(_ request: Replica.JoinRequest) throws {
    let text = "\(Self.start)\(request.identity)\n\(request.name)\n"
    try PrivateFile.makeFolder(folder.path)
    try folder.sending(Array(text.utf8)) {
      _ = try carrier.write("\(RemoteName.request(request.id))", from: $0, meter: TransferMeter())
    }
  }

  func remove(_ replica: ReplicaID) throws {
    for name in [RemoteName.request(replica), .invitation(replica)] {
      try carrier.remove("\(name)", meter: TransferMeter())
    }
  }

  // MARK: For members

  func requests(meter: TransferMeter) throws -> [Replica.JoinRequest] {
    let files = try carrier.list(RemoteName.requests, meter: meter).filter {
      $0.isReadable && $0.size <= Self.requestLimit
    }
    let names = files.compactMap { RemoteName($0.name) }.sorted { "\($0)" < "\($1)" }
    return try names.prefix(Self.requestCount).compactMap { name in
      guard case .request(let replica) = name, let request = try read("\(name)", meter), request.id == replica else {
        return nil
      }
      return request
    }
  }

  /// Nil for what is no request.
  private func read(_ name: String, _ meter: TransferMeter) throws -> Replica.JoinRequest? {
    let sink = MemorySink()
    do {
      guard try carrier.read(name, into: sink, limit: Self.requestLimit, meter: meter) != nil else {
        return nil
      }
    } catch let error as GodwitError where error.code == .limitExceeded {
      return nil
    }
    guard let text = String(validating: sink.bytes, as: UTF8.self), text.hasPrefix(Self.start) else { return nil }
    let lines = text.dropFirst(Self.start.count).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty, let identity = try? PublicIdentity(String(lines[0])) else { return nil }
    let name = String(lines[1])
    guard (try? MemberName.check(name)) != nil else { return nil }
    return Replica.JoinRequest(identity: identity, name: name)
  }

  /// Puts the outgoing invitation there in place of the request.
  func putInvitation(for replica: ReplicaID) throws {
    let path = file(for: replica)
    defer { unlink(path) }
    _ = try carrier.write("\(RemoteName.invitation(replica))", from: path, meter: TransferMeter())
    try carrier.remove("\(RemoteName.request(replica))", meter: TransferMeter())
  }
}
