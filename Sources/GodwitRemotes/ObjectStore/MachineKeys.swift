import Foundation
import GodwitBase
import GodwitFiles

/// Keys that a machine in a cloud is given: by its container's service (AWS's container credentials, as ECS and EKS
/// have them), or by the instance's metadata service, version 2 (docs.aws.amazon.com, "Configure the Instance Metadata
/// Service options").
struct MachineKeys {
  private static let containerHost = "169.254.170.2"
  /// Where plain HTTP is as safe as the machine.
  private static let safeHosts: Set<String> = [
    containerHost, "169.254.170.23", "[fd00:ec2::23]", "127.0.0.1", "localhost", "[::1]",
  ]
  private static let metadata = "http://169.254.169.254"
  /// In seconds. Where there is no such service nobody answers.
  private static let silence = 2
  private static let byteLimit = 1 << 16
  private static let tokenSeconds = 300

  private let environment: [String: String]
  private let http: HTTPClient

  init(_ environment: [String: String]) throws {
    self.environment = environment
    // What goes by a proxy would show the keys to it.
    http = try HTTPClient(certificates: nil, silence: Self.silence, usesProxy: false)
  }

  /// Nil where no service gives any.
  ///
  /// - Throws: `refused` for a container's service that is named and does not give any, or may not be asked;
  ///   `unreachable` for an instance's service that is busy.
  func keys() throws -> StoreKeys? {
    if let url = try containerURL() {
      guard let keys = try read(url, headers: containerHeaders()) else {
        throw GodwitError(
          .refused, "the container's service gives no keys for the store",
          hint: "see AWS_CONTAINER_CREDENTIALS_FULL_URI, and the role of the task or pod")
      }
      return keys
    }
    guard set("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" else { return nil }
    return try instanceKeys()
  }

  private func set(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  private func containerURL() throws -> String? {
    if let path = set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
      guard path.hasPrefix("/") else {
        throw GodwitError(
          .refused, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with /",
          hint: "the container's service sets it")
      }
      return "http://\(Self.containerHost)\(path)"
    }
    guard let url = set("AWS_CONTAINER_CREDENTIALS_FULL_URI") else { return nil }
    guard let parts = URLComponents(string: url), let host = parts.host,
      parts.scheme == "https" || parts.scheme == "http" && Self.safeHosts.contains(host)
    else {
      throw GodwitError(
        .refused, "AWS_CONTAINER_CREDENTIALS_FULL_URI names a place that may not be asked without encryption",
        hint: "it may be https, or this machine")
    }
    return url
  }

  private func containerHeaders() throws -> [(String, String)] {
    if let path = set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
      let bytes = try FileDescriptor.openPlainForReading(path).readToEnd(limit: Self.byteLimit)
      let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      return [("Authorization", text)]
    }
    return set("AWS_CONTAINER_AUTHORIZATION_TOKEN").map { [("Authorization", $0)] } ?? []
  }

  private func instanceKeys() throws -> StoreKeys? {
    let base = set("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? Self.metadata
    let ttl = [("X-aws-ec2-metadata-token-ttl-seconds", "\(Self.tokenSeconds)")]
    guard let token = try ask("\(base)/latest/api/token", .putNothing, headers: ttl) else { return nil }
    let headers = [("X-aws-ec2-metadata-token", String(decoding: token, as: UTF8.self))]
    let roles = "\(base)/latest/meta-data/iam/security-credentials/"
    guard let list = try ask(roles, headers: headers, isThere: true),
      let role = String(decoding: list, as: UTF8.self).split(whereSeparator: \.isWhitespace).first
    else { return nil }
    return try read(roles + StoreRequest.encoded(String(role)), headers: headers, isThere: true)
  }

  private func read(_ url: String, headers: [(String, String)], isThere: Bool = false) throws -> StoreKeys? {
    try ask(url, headers: headers, isThere: isThere).flatMap { StoreKeys(json: $0) }
  }

  private static var isBusy: GodwitError {
    GodwitError(.unreachable, "this machine's service for keys gives none now", hint: "try again later")
  }

  /// Nil for what is no good answer.
  ///
  /// - Parameter isThere: Whether the service has answered already, so that none now does not mean that there is none.
  private func ask(
    _ url: String, _ method: HTTPRequest.Method = .get, headers: [(String, String)], isThere: Bool = false
  ) throws -> [UInt8]? {
    guard headers.allSatisfy({ $0.1.utf8.allSatisfy { $0 >= 32 && $0 < 127 } }) else { return nil }
    let request = HTTPRequest(
      method: method, url: url, host: URLComponents(string: url)?.host ?? "", headers: headers, signature: nil,
      sink: nil, limit: Self.byteLimit)
    do {
      let answer = try http.send(request, meter: TransferMeter())
      // Who answers so is there.
      if answer.status >= 500 || answer.status == 429 { throw Self.isBusy }
      return answer.status == 200 && answer.body.count <= Self.byteLimit ? answer.body : nil
    } catch is HTTPFailure {
      if isThere { throw Self.isBusy }
      return nil
    }
  }
}
