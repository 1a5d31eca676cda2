import Foundation
import Godwit

/// Does behind the fence of a reading process what a database made on purpose might make it do, and ends with 0 where
/// that works, and the number of the error where it is refused.
enum FenceSubject {
  static func run(_ deed: String) throws -> Never {
    var limits = ReaderLimits(byteCount: 0)
    limits.cpuSeconds = 1
    limits.memoryByteCount = 64 << 20
    // What runs the tests may have it blocked.
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    try ReaderFence.enter(limits)
    let earlier = open("/etc/passwd", O_RDONLY)
    guard earlier >= 0 else { exit(101) }
    if deed == "write before" { exit(error(open("/tmp/godwit-fence", O_WRONLY | O_CREAT, 0o600))) }
    try ReaderFence.seal()
    exit(perform(deed, earlier))
  }

  private static func perform(_ deed: String, _ earlier: Int32) -> Int32 {
    switch deed {
    case "nothing": return 0
    case "read":
      return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { error(read(earlier, $0.baseAddress, 4)) }
    case "open": return error(open("/etc/passwd", O_RDONLY))
    case "print": return error(write(1, "x", 1))
    case "socket": return error(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    case "fork": return thread()
    case "exec":
      var arguments: [UnsafeMutablePointer<CChar>?] = [nil]
      return error(execv("/bin/true", &arguments))
    case "kill": return error(kill(getppid(), SIGTERM))
    case "code":
      let memory = mmap(nil, 4_096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      return memory == MAP_FAILED ? errno : 0
    case "memory":
      let memory = mmap(nil, 128 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      return memory == MAP_FAILED ? errno : 0
    case "time":
      var number = getpid()
      while number != 0 { number = number &* 3 | 1 }
      return 0
    default: return 102
    }
  }

  /// Swift does not let a program fork; a thread takes the same system call.
  private static func thread() -> Int32 {
    var thread = pthread_t()
    return pthread_create(&thread, nil, { _ in nil }, nil)
  }

  private static func error(_ result: Int) -> Int32 { result < 0 ? errno : 0 }
  private static func error(_ result: Int32) -> Int32 { error(Int(result)) }
}
