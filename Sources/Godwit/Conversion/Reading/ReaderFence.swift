import Foundation
import GodwitBase
import GodwitFiles
import GodwitCrypto
import GodwitKeys

/// What a process that reads another program's database may take and do (Specs/conversion.md, "The reading process").
package enum ReaderFence {
  /// Ends with the thread that started it, holds no descriptor but the standard ones, and cannot be looked into.
  static func detach() throws {
    SecretProtection.disableCrashReports()
    guard VariadicCall.prctl(1, UInt(SIGKILL)) == 0 else {
      throw refused("its end with the program (PR_SET_PDEATHSIG)")
    }
    try? SecretProtection.disableCoreDumps()
    guard !SecretProtection.isDumpable else { throw refused("its memory to be kept from others (PR_SET_DUMPABLE)") }
    if VariadicCall.systemCall(SystemCallNumber.closeRange, 3, UInt(UInt32.max), 0) != 0 {
      // A kernel of before 2020.
      for descriptor in 3..<Int32(clamping: max(4, sysconf(Int32(_SC_OPEN_MAX)))) { close(descriptor) }
    }
  }

  /// Limits memory and time, and lets the process read files, but make no other system call than reading takes.
  package static func enter(_ limits: ReaderLimits) throws {
    try set(__rlimit_resource_t(RLIMIT_AS.rawValue), addressSpace() + limits.memoryByteCount, "memory")
    // The signal of the first limit distinguishes it from other ends.
    try set(__rlimit_resource_t(RLIMIT_CPU.rawValue), limits.cpuSeconds, "time", last: limits.cpuSeconds + 5)
    try set(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), 0, "the size of files")
    try set(__rlimit_resource_t(RLIMIT_CORE.rawValue), 0, "core dumps")
    try set(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), 16, "open files")
    guard VariadicCall.prctl(38, 1) == 0 else { throw refused("no new privileges (PR_SET_NO_NEW_PRIVS)") }
    try filter(isOpening: true).install()
  }

  /// Also takes the opening of files away, and what looks at them by their names.
  package static func seal() throws { try filter(isOpening: false).install() }

  private static func set(_ resource: __rlimit_resource_t, _ value: Int, _ what: String, last: Int? = nil) throws {
    var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(last ?? value))
    guard setrlimit(resource, &limit) == 0 else { throw refused("a limit on \(what)") }
  }

  private static func refused(_ what: String) -> GodwitError {
    GodwitError(
      .fileAccess, "the process that reads the database is refused \(what): \(String(cString: strerror(errno)))")
  }

  /// How much the program takes before it has read anything; more where a tool watches its memory.
  private static func addressSpace() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    guard let pages = text.split(separator: " ").first.flatMap({ Int($0) }) else {
      throw GodwitError(.fileAccess, "/proc/self/statm does not say how much memory the process has")
    }
    return pages * Int(getpagesize())
  }

  private static func filter(isOpening: Bool) throws -> SystemCallFilter {
    typealias Number = SystemCallNumber
    guard let architecture = Number.architecture else {
      throw GodwitError(
        .fileAccess, "a database is read in a process of its own on x86-64 and AArch64 only",
        hint: "read one that you trust in your own process (.thisProcess)")
    }
    var filter = SystemCallFilter(architecture: architecture)
    for number in [Number.read, Number.pread, Number.lseek, Number.fstat, Number.close] { filter.add(number, .allow) }
    // The one socket, by its descriptor: nothing is written to what else may be open.
    filter.add(Number.sendto, .allow, when: [.oneOf(0, [UInt32(ReaderSocket.childDescriptor)])])
    filter.add(Number.recvfrom, .allow, when: [.oneOf(0, [UInt32(ReaderSocket.childDescriptor)])])
    // Flags and locks; others send signals.
    filter.add(
      Number.fcntl, .allow, when: [.oneOf(1, [F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK].map { UInt32($0) })])
    for number in [Number.munmap, Number.brk, Number.mremap, Number.madvise, Number.futex] + Number.harmless {
      filter.add(number, .allow)
    }
    // No memory becomes code.
    for number in [Number.mmap, Number.mprotect] { filter.add(number, .allow, when: [.lacks(2, UInt32(PROT_EXEC))]) }
    filter.add(Number.tgkill, .allow, when: [.oneOf(0, [UInt32(getpid())])])
    for number in Number.hostile { filter.add(number, .kill) }
    let writing = UInt32(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
    if isOpening {
      filter.add(Number.openat, .allow, when: [.lacks(2, writing)])
      for number in Number.opening { filter.add(number, .allow, when: [.lacks(1, writing)]) }
      for number in Number.looking + [Number.newfstatat, Number.prctl, UInt32(Number.seccomp)] {
        filter.add(number, .allow)
      }
    } else {
      // As if nothing were there: libraries do without what they would look for.
      for number in Number.opening + Number.looking + [Number.openat] { filter.add(number, .fail(ENOENT)) }
      filter.add(Number.newfstatat, .allow, when: [.has(3, 0x1000)])  // AT_EMPTY_PATH: a descriptor alone
    }
    return filter
  }
}
