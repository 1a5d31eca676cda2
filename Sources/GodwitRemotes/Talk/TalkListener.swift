import Foundation
import GodwitBase
import GodwitFiles
import Synchronization

/// A Unix socket at which replicas on this machine ask for a talk. It goes with the value.
package final class TalkListener: Sendable {
  private let place: SocketPath
  private let lock: LockFile
  private let descriptor: Int32
  private let hasEnded = Atomic(false)

  /// - Throws: `invalidArgument` for a path that is too long, `unsafeFile` for what is no socket, `busy` where another
  ///   process listens; `fileAccess`, `diskFull`.
  package init(_ path: String) throws(GodwitError) {
    place = try SocketPath(path)
    guard let claim = try place.claim() else {
      throw GodwitError(.busy, "another process answers at \(path) already", hint: "give another: --socket PATH")
    }
    lock = claim
    descriptor = try place.listen()
  }

  deinit {
    unlink(place.path)
    close(descriptor)
  }

  /// Waits for the next connection. Nil after ``end()``.
  ///
  /// - Throws: `fileAccess` for a socket that cannot be listened at.
  package func next() throws -> SocketStream? {
    while true {
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 {
        _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
        return SocketStream(connection, name: place.path)
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      // It waits in the queue until a talk has ended.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        guard !hasEnded.load(ordering: .relaxed) else { return nil }
        usleep(100_000)
      // It was shut down.
      case EINVAL: return nil
      default: throw GodwitError.file("accept a connection at", place.path, errno)
      }
    }
  }

  /// Takes no more connections.
  package func end() {
    hasEnded.store(true, ordering: .relaxed)
    shutdown(descriptor, Int32(SHUT_RDWR))
  }
}
