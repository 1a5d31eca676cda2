import CCurl
import Foundation
import GodwitBase
import GodwitFiles
import Synchronization

/// Sends requests by libcurl of the system (curl.se/libcurl), one after another, over connections that stay open. Calls
/// block.
final class HTTPClient: @unchecked Sendable {
  /// The curl handle, which one thread at a time may use: whoever has the lock.
  private let curl: UnsafeMutableRawPointer
  private let lock = Mutex(())
  private let certificates: String?
  private let silence: Int
  private let usesProxy: Bool

  /// - Parameters:
  ///   - certificates: A file with the certificates to trust in place of the system's.
  ///   - silence: How long connecting may take, and how long nothing may come or go, in seconds.
  ///   - usesProxy: Whether the proxy that the environment names is used.
  /// - Throws: `unreachable` when there is no libcurl, or it gives no handle.
  init(certificates: String?, silence: Int, usesProxy: Bool = true) throws {
    _ = CryptoLibrary.staysUntilTheEnd
    guard godwit_curl_load() == 1, let curl = godwit_curl_open() else {
      throw GodwitError(
        .unreachable, "libcurl cannot be loaded, which object stores are reached with",
        hint: "install the system's libcurl, 7.87 or later: Debian's libcurl4")
    }
    self.curl = curl
    self.certificates = certificates
    self.silence = silence
    self.usesProxy = usesProxy
  }

  deinit { godwit_curl_close(curl) }

  /// Where systems keep the certificates that they trust. A libcurl that came with a program knows its maker's place
  /// alone.
  private static let systemCertificates = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ].first(where: PrivateFile.exists)

  func send(_ request: HTTPRequest, meter: TransferMeter) throws -> HTTPResponse {
    try lock.withLock { _ in
      godwit_curl_reset(curl)
      let exchange = HTTPExchange(request, meter)
      var headers: UnsafeMutablePointer<curl_slist>?
      defer { godwit_curl_free(headers) }
      for (name, value) in request.headers { headers = godwit_curl_append(headers, "\(name): \(value)") }
      try configure(request)
      if let limit = meter.pieceLimit {
        // What has come is handed over in pieces of so many bytes; libcurl takes no other sizes.
        godwit_curl_set_long(curl, CURLOPT_BUFFERSIZE, min(max(limit, 1 << 10), 16 << 10))
      }
      godwit_curl_set_pointer(curl, CURLOPT_HTTPHEADER, headers)
      let code = exchange.perform(curl)
      if let error = exchange.error { throw error }
      try meter.requireGoing()
      let response = HTTPResponse(status: godwit_curl_status(curl), headers: exchange.headers, body: exchange.body)
      // A proxy answers in the place of the store, or does not connect to it.
      let refusal = response.status == 407 ? 407 : godwit_curl_proxy_status(curl)
      guard code == CURLE_OK, response.status != 407 else { throw failure(code, refusal, of: request) }
      return response
    }
  }

  private func failure(_ code: CURLcode, _ proxyStatus: Int, of request: HTTPRequest) -> HTTPFailure {
    let proxy = usesProxy ? ProxyVariable.name(for: request.url, host: request.host) : nil
    return HTTPFailure(
      code: code, host: request.host, certificates: certificates, proxy: proxy, proxyStatus: proxyStatus)
  }

  private func configure(_ request: HTTPRequest) throws {
    godwit_curl_set_text(curl, CURLOPT_URL, request.url)
    godwit_curl_set_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
    godwit_curl_set_long(curl, CURLOPT_PATH_AS_IS, 1)
    godwit_curl_set_long(curl, CURLOPT_NOSIGNAL, 1)
    godwit_curl_set_long(curl, CURLOPT_FOLLOWLOCATION, 0)
    godwit_curl_set_long(curl, CURLOPT_CONNECTTIMEOUT, silence)
    // It asks whether it may send a large body, and some stores do not answer that. Taking the header away would have
    // libcurl 7.88 sign a header that is not sent.
    godwit_curl_set_long(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, 1)
    godwit_curl_set_long(curl, CURLOPT_LOW_SPEED_LIMIT, 1)
    godwit_curl_set_long(curl, CURLOPT_LOW_SPEED_TIME, silence)
    if !usesProxy { godwit_curl_set_text(curl, CURLOPT_PROXY, "") }
    if let certificates = certificates ?? Self.systemCertificates {
      godwit_curl_set_text(curl, CURLOPT_CAINFO, certificates)
    }
    // Otherwise the system's folder of them counts beside the file.
    if certificates != nil { godwit_curl_set_text(curl, CURLOPT_CAPATH, nil) }
    if let signature = request.signature {
      // Without it the keys would go out as they are.
      guard godwit_curl_set_text(curl, CURLOPT_AWS_SIGV4, "aws:amz:\(signature.region):s3") == CURLE_OK else {
        throw GodwitError(.refused, "the system's libcurl cannot sign requests", hint: "libcurl 7.75 or later can")
      }
      godwit_curl_set_text(curl, CURLOPT_USERNAME, signature.keys.identifier)
      godwit_curl_set_text(curl, CURLOPT_PASSWORD, signature.keys.secret)
    }
    switch request.method {
    case .get: godwit_curl_set_long(curl, CURLOPT_HTTPGET, 1)
    case .head: godwit_curl_set_long(curl, CURLOPT_NOBODY, 1)
    case .delete: godwit_curl_set_text(curl, CURLOPT_CUSTOMREQUEST, "DELETE")
    case .putNothing:
      godwit_curl_set_long(curl, CURLOPT_UPLOAD, 1)
      godwit_curl_set_offset(curl, CURLOPT_INFILESIZE_LARGE, 0)
    case .put(let body):
      godwit_curl_set_long(curl, CURLOPT_UPLOAD, 1)
      godwit_curl_set_offset(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.size))
    }
  }
}

/// A request, as far as a store needs one.
struct HTTPRequest {
  enum Method {
    case get, head, delete, putNothing
    case put(HTTPBody)
  }

  let method: Method
  /// With the path and the query as they are signed.
  let url: String
  /// The host, for messages.
  let host: String
  let headers: [(String, String)]
  /// Nil for a request without a signature.
  let signature: (region: String, keys: StoreKeys)?
  /// Where the body of a good answer goes; nil keeps it, at most ``HTTPExchange/keptLimit`` bytes.
  let sink: (any ByteSink)?
  /// The most bytes that the sink is given.
  let limit: Int
}

/// A local file to send.
struct HTTPBody {
  let path: String
  let size: Int
}

/// An answer. Header names are in lower case.
struct HTTPResponse {
  let status: Int
  let headers: [String: String]
  /// What was not given to a sink.
  let body: [UInt8]
}

/// A request that got no whole answer.
struct HTTPFailure: Error {
  let code: CURLcode
  let host: String
  /// The file of those that the URL names.
  let certificates: String?
  /// The variable of the environment that names the proxy for it.
  let proxy: String?
  /// What the proxy has answered itself; 0 where it has not.
  let proxyStatus: Int

  /// Whether the proxy has refused. 5xx are of a proxy that does not reach the store: waiting may help.
  private var isRefusedByProxy: Bool { (400..<500).contains(proxyStatus) }

  /// Whether the same may succeed at once: the connection broke on its way.
  var isTransient: Bool {
    !isRefusedByProxy
      && [
        CURLE_PARTIAL_FILE, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM,
        CURLE_SEND_FAIL_REWIND,
      ].contains(code)
  }

  /// Whether it may have been so, which curl does not distinguish from a host that speaks no TLS.
  var mayBeTransient: Bool { code == CURLE_SSL_CONNECT_ERROR }

  /// Specs/remotes.md, "Faults", 1 to 4, 31 and 32.
  var error: GodwitError {
    let reason = String(cString: godwit_curl_reason(code))
    guard !isRefusedByProxy else {
      return GodwitError(
        .refused, "the proxy of \(proxy ?? "the environment") answers \(proxyStatus) and does not connect to \(host)",
        hint: proxyStatus == 407
          ? "it asks for a user and a password, which that variable may have"
          : "ask who runs it to allow that, or name the host in NO_PROXY")
    }
    switch code {
    case CURLE_SSL_CACERT_BADFILE where certificates != nil:
      return GodwitError(
        .refused, "no safe connection to \(host): \(certificates ?? "") cannot be read, or holds no certificates",
        hint: "see ca in the remote's URL")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM:
      return GodwitError(
        .refused, "no safe connection to \(host): \(reason)",
        hint: "give the store's certificates in the URL: ?ca=FILE; or see the clock and the system's certificates")
    case CURLE_SSL_CONNECT_ERROR:
      return GodwitError(
        .refused, "no safe connection to \(host): \(reason)",
        hint: "a store without TLS has http:// in its endpoint; else see the clock and the system's certificates")
    case CURLE_COULDNT_RESOLVE_PROXY,
      CURLE_COULDNT_CONNECT where proxy != nil, CURLE_PROXY where proxy != nil:
      return GodwitError(
        .unreachable, "the proxy of \(proxy ?? "the environment") cannot be reached: \(reason)",
        hint: "see that variable, or try again later")
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
      return GodwitError(.refused, "\(host): \(reason)", hint: "see the endpoint in the remote's URL")
    default:
      return GodwitError(
        .unreachable, "\(host) cannot be reached: \(reason)",
        hint: "try again later; see the network, and the endpoint in the remote's URL")
    }
  }
}
