import Foundation
import GodwitBase
import GodwitFiles

/// A replica on a host that ssh reaches: `ssh://[USER@]HOST[:PORT]/PATH`.
package struct SSHAddress: Hashable, Sendable {
  package let user: String?
  package let host: String
  package let port: Int?
  /// Absolute, or from the user's home folder on where it begins with `~/`.
  package let path: String

  init(_ text: String) throws(GodwitError) {
    guard let parts = URLComponents(string: text), let host = parts.host, !parts.path.isEmpty, parts.path != "/" else {
      throw GodwitError(
        .invalidArgument, "this is no address of a replica on another host",
        hint: "an ssh URL is ssh://[USER@]HOST[:PORT]/PATH, with the path of the replica there")
    }
    // A password with a slash in it would be a part of the path.
    let hasHiddenPassword = parts.port != nil && parts.path.split(separator: "/").first?.contains("@") == true
    guard parts.password == nil, parts.query == nil, parts.fragment == nil, !hasHiddenPassword else {
      throw GodwitError(
        .invalidArgument, "the URL has a password or a parameter",
        hint: "a remote's URL is kept and shown, so no secret is taken in it: ssh has its keys and its agent")
    }
    // Begun with a hyphen they would be options of ssh's.
    let names = [host] + [parts.user].compactMap(\.self)
    guard names.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("-") && Self.isPlain($0) }),
      !parts.path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
    else {
      throw GodwitError(
        .invalidArgument, "the host, the user or the path has characters that none has",
        hint: "hosts and users have letters, digits, - . and _; a path has no control characters")
    }
    self.host = host
    user = parts.user
    port = parts.port
    path = parts.path.hasPrefix("/~/") ? String(parts.path.dropFirst()) : parts.path
  }

  private static func isPlain(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789-._:[]".unicodeScalars.contains($0))
    }
  }

  var text: String {
    var parts = URLComponents()
    parts.scheme = "ssh"
    parts.user = user
    parts.host = host
    parts.port = port
    parts.path = path.hasPrefix("/") ? path : "/\(path)"
    return parts.string ?? ""
  }

  /// What a user types to reach the host.
  var command: String {
    (["ssh"] + (port.map { ["-p", "\($0)"] } ?? []) + [destination]).joined(separator: " ")
  }

  /// As ssh takes it: an IPv6 address without the brackets that it has in a URL.
  private var destination: String {
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let name = isBracketed ? String(host.dropFirst().dropLast()) : host
    return user.map { "\($0)@\(name)" } ?? name
  }

  /// What ssh is called with. The host's shell reads the last argument.
  package func arguments(isInteractive: Bool) -> [String] {
    ["-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=2"]
      + (isInteractive ? [] : ["-o", "BatchMode=yes"])
      + (port.map { ["-p", "\($0)"] } ?? []) + ["--", destination]
      + [Self.serving + Self.word(path)]
  }

  private static let serving = "godwit serve --stdio "

  /// The path that a client asks for by the last of ``arguments(isInteractive:)``, as sshd hands it to a command that
  /// it runs in place of that one (`SSH_ORIGINAL_COMMAND`); nil for any other command.
  package static func path(askedForBy text: String) -> String? {
    guard text.hasPrefix(serving) else { return nil }
    let word = String(text.dropFirst(serving.count))
    guard word.hasPrefix("~/") else { return ShellWord.unquoted(word) }
    return ShellWord.unquoted(String(word.dropFirst(2))).map { FilePath.withHome("~/\($0)") }
  }

  /// In quotes; a tilde stands before them.
  private static func word(_ path: String) -> String {
    let (start, rest) = path.hasPrefix("~/") ? ("~/", String(path.dropFirst(2))) : ("", path)
    return start + ShellWord.singleQuoted(rest)
  }
}
