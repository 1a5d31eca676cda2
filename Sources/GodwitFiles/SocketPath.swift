import Foundation
import GodwitBase

/// Where a Unix socket is, or is to be (unix(7)).
package struct SocketPath: Hashable, Sendable {
  package let path: String
  package let address: sockaddr_un

  /// - Throws: `invalidArgument` for a path that no address has room for.
  package init(_ path: String) throws(GodwitError) {
    try FilePath.check(path)
    var address = sockaddr_un()
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw GodwitError(.invalidArgument, "the socket's path has more than 107 bytes", hint: "give a shorter one")
    }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    self.path = path
    self.address = address
  }

  package static func == (one: Self, other: Self) -> Bool { one.path == other.path }
  package func hash(into hasher: inout Hasher) { hasher.combine(path) }

  /// Makes room for a new socket, which is this process's for as long as the lock is kept. What a killed process has
  /// left there goes.
  ///
  /// - Returns: Nil when another process has it.
  /// - Throws: `unsafeFile` for what is no socket, `fileAccess`.
  package func claim() throws(GodwitError) -> LockFile? {
    try PrivateFile.makeParent(of: path)
    var status = stat()
    let isThere = lstat(path, &status) == 0
    guard !isThere || status.st_mode & S_IFMT == S_IFSOCK else {
      throw GodwitError(.unsafeFile, "\(path) is no socket", hint: "give another: --socket PATH")
    }
    guard let lock = try LockFile("\(path).lock", isShared: false, waitingMilliseconds: 0) else { return nil }
    if isThere { unlink(path) }
    return lock
  }

  /// A socket that is connected to whoever answers there, or the number of the error.
  ///
  /// - Parameter patience: How long it may take, in seconds: where nobody takes connections, they wait in a row.
  package func connect(within patience: Int = 30) -> Result<Int32, POSIXError> {
    open { descriptor, address, size in
      // It is a limit for connecting, too (unix(7)).
      var limit = timeval(tv_sec: patience, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      return Foundation.connect(descriptor, address, size)
    }
  }

  /// A socket at which this user and the socket's group may connect (0660).
  ///
  /// - Throws: `fileAccess`, `diskFull`.
  package func listen() throws(GodwitError) -> Int32 {
    let opened = open { descriptor, address, size in
      // It has its mode from the beginning.
      guard fchmod(descriptor, 0o600) == 0, bind(descriptor, address, size) == 0 else { return -1 }
      return chmod(path, 0o660) == 0 ? Foundation.listen(descriptor, SOMAXCONN) : -1
    }
    switch opened {
    case .success(let descriptor): return descriptor
    case .failure(let error): throw .file("listen at", path, error.code.rawValue)
    }
  }

  private func open(
    _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Result<Int32, POSIXError> {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .failure(Self.lastError) }
    let result = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      defer { close(descriptor) }
      return .failure(Self.lastError)
    }
    return .success(descriptor)
  }

  private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
