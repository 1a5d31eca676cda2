import ArgumentParser
import Foundation
import ToolServer

/// Where to listen, as an argument: `9470` on loopback, `192.0.2.1:9470`, `[::]:9470`.
struct ListenAddress: ExpressibleByArgument {
  let address: PageServer.Address

  init?(argument: String) {
    let (name, digits): (Substring, Substring)
    if let colon = argument.lastIndex(of: ":") {
      (name, digits) = (argument[..<colon], argument[argument.index(after: colon)...])
    } else {
      (name, digits) = ("127.0.0.1", argument[...])
    }
    guard let port = UInt16(digits), port > 0 else { return nil }
    if name.hasPrefix("["), name.hasSuffix("]") {
      let inner = String(name.dropFirst().dropLast())
      var address = in6_addr()
      guard inet_pton(AF_INET6, inner, &address) == 1 else { return nil }
      self.address = .version6(inner, port)
    } else {
      var address = in_addr()
      guard inet_pton(AF_INET, String(name), &address) == 1 else { return nil }
      self.address = .version4(String(name), port)
    }
  }

  /// Whether only this machine reaches it.
  var isLoopback: Bool {
    switch address {
    case .unix: true
    case .version4(let host, _): host.hasPrefix("127.")
    case .version6(let host, _): host == "::1"
    }
  }
}
