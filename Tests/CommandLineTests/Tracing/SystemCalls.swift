import Foundation

/// What strace(1) saw a program and those it started ask of the system.
struct SystemCalls {
  struct Call {
    let name: String
    /// Arguments and result as strace wrote them: strings and the paths of descriptors as `\xNN`.
    let text: Substring

    var hasFailed: Bool { text.contains(" = -1 E") }

    /// Strings in quotes, in order.
    var strings: [String] {
      text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { SystemCalls.decoded($0.element) }
    }

    /// The path of the descriptor that an `open` gave, or that a `write` goes to; of a file without a name the one that
    /// it had, and ` (deleted)`.
    var descriptorPath: String? {
      guard let end = text.lastIndex(of: ">"), let start = text[..<end].lastIndex(of: "<") else { return nil }
      let path = SystemCalls.decoded(text[text.index(after: start)..<end])
      return text[end...].hasPrefix(">(deleted)") ? "\(path) (deleted)" : path
    }
  }

  static let program = "/usr/bin/strace"
  /// What writes, opens, starts programs, and keeps memory out of dumps.
  private static let traced =
    "execve,execveat,open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,send,sendto,sendmsg,sendmmsg,"
    + "rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,prctl,prlimit64,setrlimit,connect,bind"

  let calls: [Call]

  /// The arguments that have strace run a program and write to a file.
  static func arguments(log: String, _ command: [String]) -> [String] {
    ["-f", "-y", "-v", "-xx", "-s", "1048576", "-e", "trace=\(traced)", "-o", log] + command
  }

  init(log: String) throws {
    let content = String(decoding: try Data(contentsOf: URL(fileURLWithPath: log)), as: UTF8.self)
    var calls: [Call] = []
    // A call during which another thread was seen is on two lines.
    var begun: [Substring: Substring] = [:]
    for line in content.split(separator: "\n") {
      guard let space = line.firstIndex(of: " ") else { continue }
      let process = line[..<space]
      var text = line[space...].drop { $0 == " " }
      if text.hasSuffix(" <unfinished ...>") {
        begun[process] = text.dropLast(17)
        continue
      }
      if text.hasPrefix("<... "), let rest = text.range(of: " resumed>") {
        text = Substring((begun.removeValue(forKey: process) ?? "") + text[rest.upperBound...])
      }
      guard let parenthesis = text.firstIndex(of: "("), !text.hasPrefix("+++"), !text.hasPrefix("---") else { continue }
      calls.append(Call(name: String(text[..<parenthesis]), text: text[parenthesis...]))
    }
    // What never came back was asked for all the same.
    calls += begun.values.compactMap { text in
      text.firstIndex(of: "(").map { Call(name: String(text[..<$0]), text: text[$0...]) }
    }
    self.calls = calls
  }

  private static func encoded(_ bytes: [UInt8]) -> String {
    bytes.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func decoded(_ text: Substring) -> String {
    String(decoding: text.components(separatedBy: "\\x").dropFirst().compactMap { UInt8($0, radix: 16) }, as: UTF8.self)
  }
}

extension SystemCalls {
  /// The paths that were opened for writing, made, or renamed to; those of `mkdir` and `rename` as they were given.
  var writtenPaths: Set<String> {
    Set(
      calls.filter { !$0.hasFailed }.compactMap { call in
        switch call.name {
        case "open", "openat", "openat2", "creat":
          let isWriting = ["O_WRONLY", "O_RDWR", "O_CREAT", "creat"].contains {
            call.text.contains($0) || call.name == $0
          }
          return isWriting ? call.descriptorPath : nil
        case "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mkdir", "mkdirat":
          return call.strings.last
        case "connect", "bind": return "a socket \(call.text)"
        default: return nil
        }
      })
  }

  /// Where a secret is seen: the call, and the file it went to.
  func sightings(of secret: [UInt8]) -> [String] {
    let encoded = Self.encoded(secret)
    return calls.filter { $0.text.contains(encoded) }.map { call in
      let writes = ["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg"].contains(call.name)
      // The descriptor stands first, before a comma; nothing behind it has brackets of its own.
      let end = call.text.firstIndex(of: ",") ?? call.text.endIndex
      let path = writes ? Call(name: call.name, text: call.text[..<end]).descriptorPath : nil
      return "\(call.name) \(path ?? "")"
    }
  }
}
