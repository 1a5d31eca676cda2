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

  /// Where an invitation lies that is to be put there.
  var outgoing: String { "\(folder.path)/invitation" }

  /// What lies at a place without a marker nobody would look at.
  func requireMarker(at place: String) throws {
    guard try carrier.find("\(RemoteName.marker)", meter: TransferMeter()) == nil else { return }
    throw GodwitError(
      .unreachable, "no group has its remote at \(place)",
      hint: "mount it, or on a member's machine first: godwit remote add NAME URL")
  }

  // MARK: For who would join

  /// The path of a file with the invitation, or nil.
  func invitation(for replica: ReplicaID) throws -> String? {
    try PrivateFile.makeFolder(folder.path)
    let path = "\(folder.path)/invitation"
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

  func requests() throws -> [Replica.JoinRequest] {
    let files = try carrier.list(RemoteName.requests, meter: TransferMeter()).sorted { $0.name < $1.name }
    var requests: [Replica.JoinRequest] = []
    for file in files where requests.count < Self.requestCount && file.size <= Self.requestLimit {
      guard case .request(let replica)? = RemoteName(file.name), let request = try read(file.name),
        request.id == replica
      else { continue }
      requests.append(request)
    }
    return requests
  }

  /// Nil for what is no request.
  private func read(_ name: String) throws -> Replica.JoinRequest? {
    let sink = MemorySink()
    do {
      guard try carrier.read(name, into: sink, limit: Self.requestLimit, meter: TransferMeter()) != nil else {
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
    _ = try carrier.write("\(RemoteName.invitation(replica))", from: outgoing, meter: TransferMeter())
    unlink(outgoing)
    try carrier.remove("\(RemoteName.request(replica))", meter: TransferMeter())
  }
}
