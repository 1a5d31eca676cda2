import ArgumentParser
import Foundation

/// Where to listen, as an argument: `9470` on loopback, `192.0.2.1:9470`, `[::]:9470`.
struct ListenAddress: ExpressibleByArgument {
  enum Host {
    case version4(String)
    case version6(String)
  }

  let host: Host
  let port: UInt16

  init?(argument: String) {
    let (name, digits): (Substring, Substring)
    if let colon = argument.lastIndex(of: ":") {
      (name, digits) = (argument[..<colon], argument[argument.index(after: colon)...])
    } else {
      (name, digits) = ("127.0.0.1", argument[...])
    }
    guard let port = UInt16(digits) else { return nil }
    self.port = port
    if name.hasPrefix("["), name.hasSuffix("]") {
      let inner = String(name.dropFirst().dropLast())
      var address = in6_addr()
      guard inet_pton(AF_INET6, inner, &address) == 1 else { return nil }
      host = .version6(inner)
    } else {
      var address = in_addr()
      guard inet_pton(AF_INET, String(name), &address) == 1 else { return nil }
      host = .version4(String(name))
    }
  }

  /// Whether only this machine reaches it.
  var isLoopback: Bool {
    switch host {
    case .version4(let name): name.hasPrefix("127.")
    case .version6(let name): name == "::1"
    }
  }
}
