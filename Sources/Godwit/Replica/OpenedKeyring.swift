import GodwitBase
import GodwitCore
import GodwitFiles
import GodwitKeys
import Synchronization

/// The keyring of a replica that is being opened. The first connection reads it, on its own thread, under the folder's
/// lock; that is held until the database has its first page, so that two processes never choose a salt each.
final class OpenedKeyring: Sendable {
  private struct State {
    var found: (contents: KeyringContents, group: GroupID, keys: DatabaseKeys)?
    var lock: LockFile?
  }

  let folder: ReplicaFolder
  private let read: @Sendable () throws -> KeyringContents
  private let state: Mutex<State>

  /// - Parameters:
  ///   - held: The folder's lock, where the caller has it already.
  ///   - read: Reads the keyring, or makes it, while the folder is locked.
  init(
    _ folder: ReplicaFolder, lock held: LockFile?, _ read: @escaping @Sendable () throws -> KeyringContents
  ) {
    self.folder = folder
    self.read = read
    state = Mutex(State(lock: held))
  }

  /// What opens the database.
  func keys() throws -> DatabaseKeys {
    try state.withLock { state in
      if let found = state.found { return found.keys }
      if state.lock == nil { try Keyring.prepare(at: folder.keys) }
      let lock = try state.lock ?? folder.lock()
      let contents = try read()
      guard let group = contents.group else { throw GodwitError(.damagedKeyring, "the keyring names no group") }
      let keys = DatabaseKeys(folder, contents)
      state.lock = lock
      state.found = (contents, group, keys)
      return keys
    }
  }

  /// What it holds, once there has been a connection.
  func contents() throws -> (KeyringContents, GroupID) {
    guard let found = state.withLock({ $0.found }) else { throw GodwitError(.closed, "the replica is closed") }
    return (found.contents, found.group)
  }

  /// The same, when the database has its first page.
  func unlock() throws -> (KeyringContents, GroupID) {
    state.withLock { $0.lock = nil }
    return try contents()
  }

  /// Why opening failed, in terms of the whole folder where the keyring was not the cause.
  func explain(_ error: any Error) -> any Error {
    guard let found = state.withLock({ $0.found }) else { return error }
    return DatabaseSwap(folder).explain((error as? GodwitError).map { folder.explain($0, found.contents) } ?? error)
  }
}
