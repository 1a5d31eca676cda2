import Foundation
import GodwitBase
import GodwitStorage
import TestFolders
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// What the process asks of the system that reads another program's database (Specs/conversion.md, "The reading
/// process").
@Suite("A process that reads a database, under strace", .seesSystemCalls)
struct ReadingProcessTracingTests {
  /// Calls that may succeed once the database is open.
  private static let harmless: Set<Substring> = [
    "read", "pread64", "lseek", "fstat", "fcntl", "close", "mmap", "munmap", "mremap", "mprotect", "brk", "madvise",
    "futex", "sendto", "recvfrom", "getpid", "gettid", "geteuid", "gettimeofday", "clock_gettime", "getrandom",
    "rt_sigaction", "rt_sigprocmask", "sched_yield", "sched_getaffinity", "exit_group",
  ]

  private static let limits = [
    "RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_NOFILE", "PR_SET_NO_NEW_PRIVS",
    "PR_SET_PDEATHSIG",
  ]

  private let machine: Machine

  init() throws {
    machine = try Machine("reading")
    try FileManager.default.createDirectory(
      atPath: machine.path(MarkerScan.allowedFolder), withIntermediateDirectories: false)
  }

  private static let statements = """
    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (1, 'kept');
    CREATE INDEX by_text ON note (text);
    """

  /// The arguments that make a replica of a database without encryption, and of one of SQLCipher's.
  private func arguments(isEncrypted: Bool) throws -> [String] {
    guard isEncrypted else {
      let path = machine.path("plaintext/source.db")
      try Data().write(to: URL(fileURLWithPath: path))
      try Connection(plaintext: path, mode: .copy).execute(Self.statements)
      return ["init", "--from", path]
    }
    let path = machine.path("safe/vault.db")
    let key = SecretBytes(random: 32)
    try DatabaseFile.create(path)
    try Connection(path: path, key: key, mode: .copy, isTemporary: true).execute(Self.statements)
    let digits = key.withUnsafeBytes { Hexadecimal.encode(Array($0)) }
    try machine.write(Data("x'\(digits)'".utf8), to: "vault.pass")
    chmod(machine.path("vault.pass"), 0o600)
    return ["init", "--from", path, "--from-secret-file", "vault.pass"]
  }

  @Test(
    "has no environment and no descriptor, and once the database is open nothing but reading succeeds",
    arguments: [false, true])
  func calls(isEncrypted: Bool) throws {
    let lines = try machine.lines(of: arguments(isEncrypted: isEncrypted), tracing: "all")
    let starts = lines.filter { $0.contains("execve(\"/proc/self/exe\"") }
    // Without a secret, whether it can be read at all is found out before anything is made.
    #expect(starts.count == (isEncrypted ? 1 : 2), "\(starts)")
    for start in starts {
      #expect(start.contains("[\"/proc/self/exe\", \"godwit-source-reader\"]"), "\(start)")
      #expect(start.contains("/* 0 vars */"), "\(start)")
      let process = start.prefix { $0 != " " }
      let own = Self.whole(lines.filter { $0.hasPrefix("\(process) ") }.map { $0.dropFirst(process.count) })
      let sealed = try #require(own.indices.filter { own[$0].hasPrefix("seccomp(") }.dropFirst().first)
      for limit in Self.limits {
        #expect(own[..<sealed].contains { $0.contains(limit) && $0.contains(" = 0") }, "\(limit)")
      }
      #expect(own[..<sealed].contains { $0.hasPrefix("close_range(3, 4294967295") && $0.hasSuffix(" = 0") })
      for line in own[(sealed + 1)...] where !line.contains(" = -1 E") && !line.hasSuffix("<unfinished ...>") {
        let name = line.prefix { $0 != "(" }
        let isMarked = line.hasPrefix("+++") || line.hasPrefix("---")
        let isByDescriptor = name == "newfstatat" && line.contains("AT_EMPTY_PATH")
        #expect(isMarked || isByDescriptor || Self.harmless.contains(name), "\(line)")
      }
    }
    #expect(try machine.godwit("query", "SELECT text FROM note", "--json").text.contains("kept"))
  }

  /// One process's calls, each in one line: strace cuts those in two that another process comes between.
  private static func whole(_ lines: [Substring]) -> [Substring] {
    var calls: [Substring] = []
    let unfinished = "<unfinished ...>"
    for line in lines.map({ $0.drop { $0 == " " } }) {
      guard line.hasPrefix("<... "), let cut = calls.lastIndex(where: { $0.hasSuffix(unfinished) }) else {
        calls.append(line)
        continue
      }
      let rest = line.drop { $0 != ">" }.dropFirst()
      calls[cut] = calls[cut].dropLast(unfinished.count) + rest
    }
    return calls
  }
}
