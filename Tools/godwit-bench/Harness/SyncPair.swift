import Foundation
import Godwit
import Synchronization

/// A replica that writes, and replicas of its group that receive.
final class SyncPair: Sendable {
  let folder: String
  let sender: Replica
  private let count = Mutex(0)
  private let current: Mutex<(receiver: Replica?, file: String)>

  init(_ context: BenchContext, _ name: String) async throws {
    folder = "\(context.folder)/\(name)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    sender = try await Replica.open(at: "\(folder)/sender", models: CapturedRow.self)
    current = Mutex((nil, ""))
  }

  /// A new, empty replica of the group.
  func makeReceiver() async throws -> Replica {
    let number = count.withLock { count in
      count += 1
      return count
    }
    let path = "\(folder)/receiver-\(number)"
    try await sender.addMember(at: path, name: "receiver-\(number)")
    return try await Replica.open(at: path, models: CapturedRow.self)
  }

  var receiver: Replica {
    get throws {
      guard let receiver = current.withLock({ $0.receiver }) else {
        throw GodwitError(.invalidArgument, "there is no receiver")
      }
      return receiver
    }
  }

  /// Has the next import go to a new replica, or, with `keeping`, to the one there is.
  func prepareImport(includesAll: Bool, keeping: Bool = false) async throws {
    let old = current.withLock { $0.receiver }
    var receiver = old
    if !keeping || old == nil {
      await old?.close()
      if let old { try FileManager.default.removeItem(atPath: old.path) }
      receiver = try await makeReceiver()
    }
    let file = "\(folder)/file.godwit-sync"
    _ = try await sender.export(to: .file(file), includesAll: includesAll)
    let next = receiver
    current.withLock { $0 = (next, file) }
  }

  /// Imports the prepared file.
  @discardableResult
  func runImport() async throws -> MergeReport {
    try await receiver.import(from: .file(current.withLock { $0.file }))
  }

  /// The receiver's acknowledgement goes back, so that the next file holds only what is new.
  func acknowledge() async throws {
    let file = "\(folder)/back.godwit-sync"
    _ = try await receiver.export(to: .file(file))
    _ = try await sender.import(from: .file(file))
  }

  func fileSize() async throws -> Double {
    let attributes = try FileManager.default.attributesOfItem(atPath: current.withLock { $0.file })
    await close()
    return Double((attributes[.size] as? Int) ?? 0)
  }

  func close() async {
    let last = current.withLock { $0.receiver }
    await last?.close()
    await sender.close()
  }
}

extension Replica {
  /// Has a new replica at this path become a member of the group.
  func addMember(at path: String, name: String) async throws {
    let (identity, invitation) = (try await Replica.identity(at: path), "\(path).invitation")
    try await members.invite(identity, name: name, verification: .trustOnFirstUse, to: .file(invitation))
    await (try Replica.join(at: path, invitation: .file(invitation), inviter: .trustOnFirstUse)).close()
  }
}
