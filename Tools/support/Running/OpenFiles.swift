import Foundation

/// How many files this process may have open: an agent has some six for each replica, a server one for each connection,
/// and most limits are 1,024.
package enum OpenFiles {
  /// Raises the limit to what the system allows this user.
  package static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    // Where that is refused, the limit stays as it is.
    setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
  }
}
