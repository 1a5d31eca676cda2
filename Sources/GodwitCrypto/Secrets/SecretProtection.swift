import Foundation
import GodwitBase
import GodwitFiles

/// Keeps the process's memory out of core dumps and crash reports. For programs to call once at their start; the
/// library itself never changes a process's limits or signals.
public enum SecretProtection {
  /// Turns core dumps off for this process and those it starts (RLIMIT_CORE), and those that the kernel pipes to a
  /// program or that a debugger takes as well (prctl(2), PR_SET_DUMPABLE).
  ///
  /// - Throws: `fileAccess` when the system refuses.
  public static func disableCoreDumps() throws {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else {
      throw GodwitError(.fileAccess, "core dumps cannot be turned off: \(String(cString: strerror(errno)))")
    }
    guard VariadicCall.prctl(4) == 0 else {  // PR_SET_DUMPABLE
      throw GodwitError(.fileAccess, "the process's memory cannot be protected: \(String(cString: strerror(errno)))")
    }
  }

  /// Gives the signals of a crash back to the kernel, which ends the process and says nothing. Otherwise Swift's
  /// runtime, where its backtraces are on, prints registers and the memory around them to the standard error, and so to
  /// logs: a key may be among them. Handlers that the program has set for these signals go, too.
  public static func disableCrashReports() {
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT] { signal(number, SIG_DFL) }
  }

  /// Whether the process's memory can be dumped (PR_GET_DUMPABLE).
  package static var isDumpable: Bool { VariadicCall.prctl(3) != 0 }
}
