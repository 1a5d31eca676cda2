import Foundation

/// The machine that the agent runs on.
struct HostMachine: Sendable {
  let name: String
  /// The processor as the kernel calls it.
  let architecture: String

  /// This machine, under its host name or another.
  static func current(named name: String? = nil) -> HostMachine {
    var system = utsname()
    uname(&system)
    return HostMachine(name: name ?? text(of: system.nodename), architecture: text(of: system.machine))
  }

  /// The C string in a fixed array, which Swift imports as a tuple.
  private static func text<Characters>(of characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
