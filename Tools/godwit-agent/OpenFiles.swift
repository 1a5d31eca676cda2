import Foundation

/// How many files this process may have open: each replica takes some six, and half of all limits are 1,024.
enum OpenFiles {
  /// Raises the limit to what the system allows this user.
  static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    // Where that is refused, the limit stays as it is.
    setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
  }
}
