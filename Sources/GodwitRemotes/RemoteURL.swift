import Foundation
import GodwitBase
import GodwitFiles

/// Where a remote is (Specs/remotes.md, "URLs"). It holds no secret.
package enum RemoteURL: Hashable, Sendable {
  /// An absolute path.
  case folder(String)
  case bucket(BucketAddress)
  /// A replica on another host.
  case host(SSHAddress)
  /// A replica that is served on this machine.
  case socket(SocketPath)

  /// Reads a URL, or a path from the current folder on.
  ///
  /// - Throws: `invalidArgument` for another scheme, and for a URL with a secret or an unknown parameter in it, which
  ///   the message does not repeat.
  package init(_ text: String) throws(GodwitError) {
    guard let colon = text.range(of: "://") else {
      guard !text.isEmpty else { throw Self.noPlace("an empty text is no place for a remote") }
      try FilePath.check(text)
      if let address = try Self.address(ofCopy: text) {
        throw GodwitError(
          .invalidArgument, "\(text) is a place as scp has it",
          hint: "a replica on that host is \(address); a folder of that name here is ./\(text)")
      }
      self = .folder(FilePath.plain(FilePath.absolute(text)))
      return
    }
    switch text[..<colon.lowerBound].lowercased() {
    case "file": self = .folder(FilePath.plain(try Self.path(text[colon.upperBound...], of: "file")))
    case "unix": self = .socket(try SocketPath(Self.path(text[colon.upperBound...], of: "unix")))
    case "s3": self = .bucket(try BucketAddress(text))
    case "ssh": self = .host(try SSHAddress(text))
    default:
      throw Self.noPlace("no remote has an address of that kind")
    }
  }

  private static func noPlace(_ what: String) -> GodwitError {
    GodwitError(
      .invalidArgument, what,
      hint: "a remote is a folder's path, s3://BUCKET/PREFIX, ssh://[USER@]HOST[:PORT]/PATH, or unix:///SOCKET")
  }

  /// What `HOST:/PATH` or `USER@HOST:PATH`, as scp takes it, is as a URL; nil for what is a folder's path.
  ///
  /// - Throws: `invalidArgument` for one with a password, or that begins as a URL does.
  private static func address(ofCopy text: String) throws(GodwitError) -> String? {
    guard !PrivateFile.exists(text) else { return nil }
    let start = text.prefix { $0 != "/" }
    guard start.firstIndex(of: "@").map({ start[..<$0].contains(":") }) != true else {
      throw GodwitError(
        .invalidArgument, "the place has a password",
        hint: "it is kept and shown, so no secret is taken in it: ssh has its keys and its agent")
    }
    let form = /(?:([^\/@:]+)@)?(\[[0-9A-Fa-f:.]+\]|[^\/:@]+):(.+)/
    guard let match = text.wholeMatch(of: form) else { return nil }
    let (user, host, path) = (match.output.1, match.output.2, match.output.3)
    guard path.hasPrefix("/") || user != nil else { return nil }
    guard user != nil || !["file", "s3", "ssh", "unix", "http", "https"].contains(host.lowercased()) else {
      throw noPlace("a URL has two slashes behind the colon")
    }
    var parts = URLComponents()
    (parts.scheme, parts.user, parts.host) = ("ssh", user.map(String.init), String(host))
    parts.path = path.hasPrefix("/") ? String(path) : path.hasPrefix("~/") ? "/\(path)" : "/~/\(path)"
    return parts.string
  }

  private static func path(_ encoded: Substring, of scheme: String) throws(GodwitError) -> String {
    let path = String(encoded).removingPercentEncoding ?? ""
    try FilePath.check(path)
    guard path.hasPrefix("/") else {
      throw GodwitError(
        .invalidArgument, "the URL has no absolute path", hint: "such a URL is \(scheme):///PATH, with three slashes")
    }
    return path
  }

  /// What keeps the files there; nil where a replica talks, which keeps none.
  ///
  /// - Parameter patience: How long a bucket's requests are tried again.
  /// - Throws: `refused` where there are no keys to a bucket.
  package func carrier(_ patience: StorePatience = StorePatience()) throws -> (any Carrier)? {
    switch self {
    case .folder(let path): FolderCarrier(path)
    case .bucket(let address): try ObjectStoreCarrier(address, patience: patience)
    case .host, .socket: nil
    }
  }

  /// A connection to the replica that talks there; nil where files are kept.
  ///
  /// - Parameter meter: Slows the talk down where there is a limit.
  /// - Throws: `unreachable`, `refused`.
  package func connection(meter: TransferMeter) throws -> (any TalkConnection)? {
    switch self {
    case .folder, .bucket: nil
    case .host(let address): try SSHProcess(address, meter: meter)
    case .socket(let place): try TalkSocket(place, meter: meter)
    }
  }

  /// Whether another URL in one form leads to the same place.
  package func isSame(as other: String) -> Bool {
    switch (self, try? RemoteURL(other)) {
    case (.folder(let path), .folder(let otherPath)?): FilePath.isSame(path, otherPath)
    case (.bucket(let address), .bucket(let otherAddress)?): address.isSame(as: otherAddress)
    default: other == text
    }
  }

  /// The same in one form.
  package var text: String {
    switch self {
    case .folder(let path): path
    case .bucket(let address): address.text
    case .host(let address): address.text
    case .socket(let place): "unix://\(place.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "")"
    }
  }
}

/// A bucket of an object store, and the prefix of all names in it.
package struct BucketAddress: Hashable, Sendable {
  package let bucket: String
  /// Without slashes at its ends; may be empty.
  package let prefix: String
  /// The store's `https://HOST[:PORT]`; nil for AWS.
  package let endpoint: String?
  package let region: String?
  /// A file with the certificates to trust in place of the system's.
  package let certificates: String?

  private static let parameters: Set<String> = ["endpoint", "region", "ca"]

  /// Whether both lead to the same objects: how the store is reached may differ.
  func isSame(as other: BucketAddress) -> Bool {
    (bucket, prefix, authority) == (other.bucket, other.prefix, other.authority)
  }

  /// The endpoint's host and port as they are connected to.
  private var authority: String? {
    guard let parts = endpoint.flatMap(URLComponents.init), let host = parts.host else { return endpoint }
    return "\(host.lowercased()):\(parts.port ?? (parts.scheme?.lowercased() == "http" ? 80 : 443))"
  }

  init(_ text: String) throws(GodwitError) {
    // A secret may have a slash in it, and would be a part of a path then.
    guard !text.prefix(while: { $0 != "?" }).contains("@") else { throw Self.holdsSecret }
    guard let parts = URLComponents(string: text), let bucket = parts.host, !bucket.isEmpty else {
      throw GodwitError(
        .invalidArgument, "this is no address of a bucket",
        hint: "a bucket's URL is s3://BUCKET/PREFIX?endpoint=URL&region=NAME")
    }
    guard Self.isBucket(bucket) else {
      throw GodwitError(
        .invalidArgument, "no bucket is called \(bucket)", hint: "buckets' names have 3 to 63 of a–z, 0–9, - and .")
    }
    let items = parts.queryItems ?? []
    guard parts.user == nil, parts.password == nil, parts.fragment == nil, parts.port == nil,
      items.allSatisfy({ Self.parameters.contains($0.name) }), Set(items.map(\.name)).count == items.count
    else { throw Self.holdsSecret }
    func item(_ name: String) -> String? { items.first { $0.name == name }?.value.flatMap { $0.isEmpty ? nil : $0 } }
    self.bucket = bucket
    prefix = parts.path.split(separator: "/").joined(separator: "/")
    endpoint = try Self.endpoint(item("endpoint"))
    region = item("region")
    certificates = item("ca").map { FilePath.absolute(FilePath.withHome($0)) }
    guard prefix.utf8.count <= 512, Self.isPlain(prefix), region.map(Self.isPlain) ?? true else {
      throw GodwitError(
        .invalidArgument, "the prefix or the region has characters that a store may not take",
        hint: "use letters, digits, and - _ . /, at most 512")
    }
  }

  private static var holdsSecret: GodwitError {
    GodwitError(
      .invalidArgument, "the URL has an @, a password, or a parameter other than endpoint, region and ca",
      hint: "a remote's URL is kept and shown, so no secret is taken in it: put keys in AWS_ACCESS_KEY_ID and "
        + "AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials")
  }

  /// The names of buckets that every provider takes.
  private static func isBucket(_ name: String) -> Bool {
    (3...63).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      } && name.first != "-" && name.first != "." && !name.contains("..")
  }

  /// What a store says becomes a part of a host's name, and stands in errors.
  static func isRegion(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9-]{1,64}/) != nil }

  private static func isPlain(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_./".unicodeScalars.contains($0))
    }
      && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
  }

  private static func endpoint(_ text: String?) throws(GodwitError) -> String? {
    guard let text else { return nil }
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty
    else {
      throw GodwitError(
        .invalidArgument, "the endpoint is no address of a store", hint: "give it as https://HOST or https://HOST:PORT")
    }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else { throw holdsSecret }
    guard parts.path.isEmpty || parts.path == "/" else {
      throw GodwitError(
        .invalidArgument, "the endpoint has a path", hint: "give its host alone; a bucket goes into s3://BUCKET/PREFIX")
    }
    return "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
  }

  var text: String {
    var parts = URLComponents()
    parts.scheme = "s3"
    parts.host = bucket
    parts.path = prefix.isEmpty ? "" : "/\(prefix)"
    let items = [("endpoint", endpoint), ("region", region), ("ca", certificates)]
    parts.queryItems = items.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
    if parts.queryItems?.isEmpty == true { parts.queryItems = nil }
    return parts.string ?? ""
  }
}
