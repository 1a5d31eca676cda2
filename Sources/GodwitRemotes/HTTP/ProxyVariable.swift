import Foundation

/// Which variable of the environment names the proxy for a request, for messages: libcurl reads them itself.
///
/// Source: https://curl.se/libcurl/c/libcurl-env.html
enum ProxyVariable {
  /// Nil where none does, or `no_proxy` leaves the host out.
  static func name(
    for url: String, host: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
    let bare = host.split(separator: ":").first.map(String.init) ?? host
    let left = ["no_proxy", "NO_PROXY"].compactMap { environment[$0] }.first ?? ""
    let isLeftOut = left.split(whereSeparator: { $0 == "," || $0 == " " }).contains { name in
      let domain = name.drop { $0 == "." }
      return name == "*" || bare == domain || bare.hasSuffix(".\(domain)")
    }
    guard !isLeftOut else { return nil }
    // HTTP_PROXY is not read: a server of CGI gets it from whoever asks.
    let names = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    return (names + ["all_proxy", "ALL_PROXY"]).first(where: isSet)
  }
}
