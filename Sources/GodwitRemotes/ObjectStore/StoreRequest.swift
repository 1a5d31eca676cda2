import GodwitBase

/// A request to a bucket: what is asked of which object.
struct StoreRequest {
  let method: HTTPRequest.Method
  /// Nil for the bucket itself.
  var key: String?
  /// In the order of their names, as they are signed.
  var query: [(name: String, value: String)] = []
  /// Only where there is none.
  var isForNew = false
  var sink: (any ByteSink)?
  var limit = 0

  /// `name=value&…`, percent-encoded: libcurl 7.88 signs it as it stands.
  var encodedQuery: String {
    query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
  }

  /// Percent-encoded but for unreserved characters (RFC 3986, 2.3), and slashes where they part a path.
  static func encoded(_ text: String, isPath: Bool = false) -> String {
    var output = ""
    for byte in text.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain = byte < 128 && (scalar.properties.isAlphabetic || "0123456789-._~".unicodeScalars.contains(scalar))
      if isPlain || isPath && byte == UInt8(ascii: "/") {
        output.unicodeScalars.append(scalar)
      } else {
        output += "%" + Hexadecimal.encode([byte]).uppercased()
      }
    }
    return output
  }
}
