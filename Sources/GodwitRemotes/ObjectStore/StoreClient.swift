import CCurl
import Foundation
import GodwitBase
import GodwitCrypto
import GodwitFiles
import Synchronization

/// Sends requests to one bucket: signs them, tries again what may do later, and mends what a store says is wrong with a
/// request (Specs/remotes.md, "Faults", 5 to 10).
final class StoreClient: Sendable {
  /// What the store has said of itself.
  private struct Standing {
    var keys: StoreKeys
    var region: String
    var hasNewKeys = false
    var hasNewRegion = false
    /// The time until the last of the tries that failed, with the pause behind it, over all requests.
    var lost = Duration.zero
  }

  private let address: BucketAddress
  private let patience: StorePatience
  private let environment: [String: String]
  private let http: HTTPClient
  private let standing: Mutex<Standing>

  init(_ address: BucketAddress, patience: StorePatience, environment: [String: String]) throws {
    self.address = address
    self.patience = patience
    self.environment = environment
    http = try HTTPClient(certificates: address.certificates, silence: patience.silence)
    let settings = try StoreSettings(environment)
    standing = Mutex(
      Standing(keys: try settings.keys(), region: address.region ?? settings.region ?? "us-east-1"))
  }

  /// The answer, good or bad, once trying again does not change it.
  func send(_ request: StoreRequest, meter: TransferMeter) throws -> HTTPResponse {
    let start = ContinuousClock.now
    var number = 0
    let lost = standing.withLock { $0.lost }
    while true {
      try meter.requireGoing()
      let answer: HTTPResponse?
      let failure: GodwitError
      do {
        let response = try http.send(try signed(request), meter: meter)
        if try mends(response) { continue }
        guard Self.mayPass(response) else { return response }
        (answer, failure) = (response, self.failure(response))
      } catch let error as HTTPFailure {
        guard error.isTransient || error.mayBeTransient && number == 0 else { throw error.error }
        (answer, failure) = (nil, error.error)
      }
      // What has come went to the caller already.
      if let sink = request.sink, answer == nil {
        guard let sink = sink as? any RestartableSink else { throw failure }
        try sink.restart()
      }
      let asked = answer.flatMap(Self.askedPause)
      guard let pause = patience.pause(try: number, after: lost + (.now - start), asked: asked) else {
        throw failure
      }
      number += 1
      try wait(pause, meter)
      standing.withLock { $0.lost = lost + (.now - start) }
    }
  }

  /// Whether the same request may do later.
  private static func mayPass(_ answer: HTTPResponse) -> Bool {
    [408, 429, 500, 502, 503, 504].contains(answer.status)
      // AWS's, of a request that came too slowly.
      || answer.status == 400 && StoreDocument(answer.body)?.code == "RequestTimeout"
  }

  /// How long the store asks to wait: seconds, or until a time.
  private static func askedPause(_ answer: HTTPResponse) -> Duration? {
    guard let text = answer.headers["retry-after"] else { return nil }
    guard let seconds = Int(text) else {
      return StoreFailure.date(text).map { .seconds(max(0, $0.timeIntervalSinceNow)) }
    }
    return .seconds(max(0, seconds))
  }

  private func wait(_ pause: Duration, _ meter: TransferMeter) throws {
    let end = ContinuousClock.now + pause
    while ContinuousClock.now < end {
      try meter.requireGoing()
      usleep(20_000)
    }
  }

  private var base: (url: String, host: String) {
    let region = standing.withLock { $0.region }
    if let endpoint = address.endpoint {
      return ("\(endpoint)/\(address.bucket)", String(endpoint.split(separator: "/").last ?? ""))
    }
    let service = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    // A name with dots fits no certificate of AWS's.
    guard address.bucket.contains(".") else {
      let host = "\(address.bucket).\(service)"
      return ("https://\(host)", host)
    }
    return ("https://\(service)/\(address.bucket)", service)
  }

  private func signed(_ request: StoreRequest) throws -> HTTPRequest {
    let (keys, region) = standing.withLock { ($0.keys, $0.region) }
    var headers = [("x-amz-content-sha256", try Self.payloadHash(request))]
    if let token = keys.token { headers.append(("x-amz-security-token", token)) }
    if request.isForNew { headers.append(("If-None-Match", "*")) }
    let path = request.key.map { "/" + StoreRequest.encoded($0, isPath: true) } ?? "/"
    let query = request.query.isEmpty ? "" : "?\(request.encodedQuery)"
    return HTTPRequest(
      method: request.method, url: base.url + path + query, host: base.host, headers: headers,
      signature: (region, keys), sink: request.sink, limit: request.limit)
  }

  private static func payloadHash(_ request: StoreRequest) throws -> String {
    guard case .put(let body) = request.method else { return ContentHasher().finalize().hexadecimal }
    return try LocalFile.hash(of: body.path).hash.hexadecimal
  }

  /// Whether the store has said how to make the request right, each at most once.
  private func mends(_ answer: HTTPResponse) throws -> Bool {
    guard [301, 307, 400, 403].contains(answer.status) else { return false }
    let document = StoreDocument(answer.body)
    let code = document?.code ?? ""
    return try standing.withLock { standing in
      if let region = StoreFailure.region(in: answer, document), region != standing.region, !standing.hasNewRegion {
        (standing.region, standing.hasNewRegion) = (region, true)
        return true
      }
      if code == "ExpiredToken", !standing.hasNewKeys {
        (standing.keys, standing.hasNewKeys) = (try StoreSettings(environment).keys(), true)
        return true
      }
      return false
    }
  }

  /// Whether there is no object of that name. Without the right to list, a store says so by 403, which is not believed.
  func isMissing(_ answer: HTTPResponse) throws -> Bool {
    guard answer.status == 404 else { return false }
    // An answer to HEAD has no body.
    guard StoreDocument(answer.body)?.code != "NoSuchBucket" else { throw failure(answer) }
    return true
  }

  /// What an answer means that is not a good one.
  func failure(_ answer: HTTPResponse) -> GodwitError {
    StoreFailure(answer, bucket: address.bucket, host: base.host, region: standing.withLock { $0.region }).error
  }
}
