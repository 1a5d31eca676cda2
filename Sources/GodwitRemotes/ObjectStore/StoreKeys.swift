import Foundation
import GodwitBase
import GodwitFiles

/// The keys to an object store. They are never shown, and no error repeats them.
struct StoreKeys: Sendable {
  let identifier: String
  let secret: String
  /// Of keys that end after some time.
  let token: String?
}

extension StoreKeys {
  /// As programs and services print them.
  private struct Form: Decodable {
    let identifier: String
    let secret: String
    let sessionToken: String?
    let token: String?

    enum CodingKeys: String, CodingKey {
      case identifier = "AccessKeyId"
      case secret = "SecretAccessKey"
      case sessionToken = "SessionToken"
      case token = "Token"
    }
  }

  /// Nil for what has no keys in it.
  init?(json bytes: some Collection<UInt8>) {
    guard let form = try? JSONDecoder().decode(Form.self, from: Data(bytes)) else { return nil }
    self.init(identifier: form.identifier, secret: form.secret, token: form.sessionToken ?? form.token)
  }
}

/// Where keys to an object store are looked for, in the usual order (Specs/remotes.md, "URLs").
struct StoreSettings {
  let environment: [String: String]
  /// The profile's lines of the credentials file and of the configuration file, the first first.
  private let credentials: [String: String]
  private let configuration: [String: String]
  /// The profile that is asked for and stands in neither file.
  private let missingProfile: String?

  private static let byteLimit = 1 << 20

  init(_ environment: [String: String]) throws {
    self.environment = environment
    let profile = Self.set(environment["AWS_PROFILE"]) ?? "default"
    let home = Self.set(environment["HOME"]) ?? "/"
    let credentials = try Self.section(
      profile, of: Self.set(environment["AWS_SHARED_CREDENTIALS_FILE"]) ?? "\(home)/.aws/credentials")
    let configuration = try Self.section(
      profile == "default" ? profile : "profile \(profile)",
      of: Self.set(environment["AWS_CONFIG_FILE"]) ?? "\(home)/.aws/config")
    missingProfile = credentials == nil && configuration == nil ? Self.set(environment["AWS_PROFILE"]) : nil
    (self.credentials, self.configuration) = (credentials ?? [:], configuration ?? [:])
  }

  var region: String? {
    Self.set(environment["AWS_REGION"]) ?? Self.set(environment["AWS_DEFAULT_REGION"]) ?? credentials["region"]
      ?? configuration["region"]
  }

  /// - Throws: `refused` where there are none, with the places that were looked at.
  func keys() throws -> StoreKeys {
    if let keys = try Self.keys(in: environment, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN") {
      return keys
    }
    // Whoever sets that wants those keys, also beside others of the profile.
    try requireNoOtherWay()
    for place in [credentials, configuration] {
      let keys = try Self.keys(in: place, "aws_access_key_id", "aws_secret_access_key", "aws_session_token")
      if let keys { return keys }
    }
    if let missingProfile {
      throw GodwitError(
        .refused, "there is no profile \(missingProfile) with keys for the store",
        hint: "see AWS_PROFILE, and the sections of ~/.aws/credentials and ~/.aws/config")
    }
    if let command = Self.set(configuration["credential_process"]) ?? Self.set(credentials["credential_process"]) {
      return try CredentialProcess.run(command)
    }
    if let keys = try MachineKeys(environment).keys() { return keys }
    throw GodwitError(
      .refused, "there are no keys for the store",
      hint: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials under [default]")
  }

  /// Nil where there are none. Half of them would have the machine's own keys used, and they may be another account's.
  private static func keys(
    in place: [String: String], _ identifier: String, _ secret: String, _ token: String
  ) throws -> StoreKeys? {
    switch (set(place[identifier]), set(place[secret])) {
    case (let found?, let foundSecret?):
      return StoreKeys(identifier: found, secret: foundSecret, token: set(place[token]))
    case (nil, nil): return nil
    case (nil, _): throw incomplete(secret, without: identifier)
    case (_, nil): throw incomplete(identifier, without: secret)
    }
  }

  private static func incomplete(_ name: String, without other: String) -> GodwitError {
    GodwitError(.refused, "there is \(name) without \(other)", hint: "set both, or neither")
  }

  /// A profile or an environment whose keys come in a way that only AWS's own programs know.
  private func requireNoOtherWay() throws {
    if Self.set(environment["AWS_WEB_IDENTITY_TOKEN_FILE"]) != nil, Self.set(environment["AWS_ROLE_ARN"]) != nil {
      throw GodwitError(
        .refused, "the environment gets its keys by AWS_WEB_IDENTITY_TOKEN_FILE, which Godwit cannot",
        hint: "have AWS's program fetch them, by this line of a profile, and name that in AWS_PROFILE: "
          + "credential_process = env -u AWS_PROFILE aws configure export-credentials")
    }
    // With such a line somebody has said how.
    guard Self.set(configuration["credential_process"] ?? credentials["credential_process"]) == nil else { return }
    let ways = ["role_arn", "sso_session", "sso_start_url", "web_identity_token_file"]
    guard let way = ways.first(where: { Self.set(credentials[$0] ?? configuration[$0]) != nil }) else { return }
    throw GodwitError(
      .refused, "the profile gets its keys by \(way), which Godwit cannot",
      hint: "let AWS's program fetch them, by this line of the profile: "
        + "credential_process = aws configure export-credentials --profile NAME")
  }

  private static func set(_ value: String?) -> String? { value.flatMap { $0.isEmpty ? nil : $0 } }

  /// The lines `NAME = VALUE` of a section; nil where there is no file or section.
  private static func section(_ name: String, of path: String) throws -> [String: String]? {
    guard PrivateFile.exists(path) else { return nil }
    let bytes = try FileDescriptor.openPlainForReading(path).readToEnd(limit: byteLimit)
    var values: [String: String]?
    var isInside = false
    for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("[") {
        isInside = text.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces) == name
        if isInside { values = values ?? [:] }
      } else if isInside, !text.hasPrefix("#"), !text.hasPrefix(";"), let sign = text.firstIndex(of: "=") {
        let key = text[..<sign].trimmingCharacters(in: .whitespaces).lowercased()
        values?[key] = text[text.index(after: sign)...].trimmingCharacters(in: .whitespaces)
      }
    }
    return values
  }
}

/// A program that prints keys as JSON: `credential_process` of AWS's configuration file.
private enum CredentialProcess {
  private static let byteLimit = 1 << 16
  /// How long it may take: it may ask a service, and is asked for nothing itself.
  private static let patience = Duration.seconds(60)

  static func run(_ command: String) throws -> StoreKeys {
    let output = Pipe()
    let nothing = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC), path: "/dev/null")
    let (reading, writing) = (output.fileHandleForReading, output.fileHandleForWriting)
    // The format asks for a shell.
    let process = try ChildProcess(
      ["/bin/sh", "-c", command], descriptors: [(nothing.rawValue, 0), (writing.fileDescriptor, 1)])
    try? writing.close()
    let bytes = read(reading.fileDescriptor, of: process)
    // One that prints more than that must not wait for a reader.
    try? reading.close()
    let status = process.end(after: bytes == nil ? .zero : patience)
    guard let bytes else { throw failure("it did not end within \(patience.components.seconds) s") }
    guard status == 0 else { throw failure("it ended with \(status)") }
    guard let keys = StoreKeys(json: bytes) else { throw failure("it printed no keys in JSON") }
    return keys
  }

  /// What it prints, whatever it leaves running with its output open; nil where it does not end in time.
  private static func read(_ descriptor: Int32, of process: ChildProcess) -> [UInt8]? {
    let end = ContinuousClock.now + patience
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < byteLimit {
      let hasEnded = process.hasEnded
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, 100) > 0 {
        let count = piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { break }
        bytes += piece.prefix(count)
      } else {
        guard !hasEnded else { break }
        guard .now < end else { return nil }
      }
    }
    return bytes
  }

  private static func failure(_ reason: String) -> GodwitError {
    GodwitError(
      .refused, "credential_process gave no keys for the store: \(reason)",
      hint: "run it by hand, and see ~/.aws/config")
  }
}
