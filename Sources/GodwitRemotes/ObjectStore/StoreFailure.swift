import CCurl
import Foundation
import GodwitBase

/// What an answer of a store means that is not a good one, and what to do about it. No secret is in it: of the answer
/// nothing but its status and code is repeated.
struct StoreFailure {
  private let status: Int
  private let code: String
  private let bucket: String
  private let host: String
  private let region: String
  /// Whether the store says which region a bucket is in.
  private let namesRegion: Bool
  /// The store's clock less this machine's, in seconds; nil where the store does not say what time it is.
  private let skew: TimeInterval?

  init(_ answer: HTTPResponse, bucket: String, host: String, region: String) {
    status = answer.status
    let document = StoreDocument(answer.body)
    let code = document?.code ?? ""
    self.code = String(
      code.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }.prefix(64).map(Character.init))
    self.bucket = bucket
    self.host = host
    self.region = region
    namesRegion = Self.region(in: answer, document) != nil
    skew = answer.headers["date"].flatMap(Self.date).map(\.timeIntervalSinceNow)
  }

  /// Where the store says that the bucket is; nil for what cannot be a region's name.
  static func region(in answer: HTTPResponse, _ document: StoreDocument?) -> String? {
    (answer.headers["x-amz-bucket-region"] ?? document?.region).flatMap { BucketAddress.isRegion($0) ? $0 : nil }
  }

  /// Nil for what is no date of HTTP.
  static func date(_ text: String) -> Date? {
    let seconds = godwit_curl_date(text)
    return seconds < 0 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
  }

  var error: GodwitError {
    let answer = "\(host) answers \(status)\(code.isEmpty ? "" : " \(code)")"
    switch (status, code) {
    case (_, "NoSuchBucket"):
      return GodwitError(
        .refused, "\(answer): there is no bucket \(bucket)",
        hint: "make it, or see the name and the endpoint in the URL")
    case (_, "SignatureDoesNotMatch"), (_, "InvalidAccessKeyId"), (_, "InvalidAccessKey"), (401, _):
      return GodwitError(
        .refused, "\(answer): the keys do not fit",
        hint: "see AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials; the region (\(region)) and the "
          + "endpoint count, too")
    case (_, "InvalidToken"):
      return GodwitError(
        .refused, "\(answer): the session token does not fit the keys",
        hint:
          "see AWS_SESSION_TOKEN, or aws_session_token in ~/.aws/credentials: it goes with keys that end after some "
          + "time, and no others")
    case (_, "ExpiredToken"), (_, "TokenRefreshRequired"):
      return GodwitError(.refused, "\(answer): the keys have expired", hint: "fetch new ones")
    case (_, "RequestTimeTooSkewed"):
      let apart =
        skew.map { ": it is \(Int($0.magnitude.rounded())) s \($0 < 0 ? "ahead of" : "behind") the store's" } ?? ""
      return GodwitError(
        .refused, "\(answer): this machine's clock is off\(apart)", hint: "set the clock: timedatectl set-ntp true")
    case (301, _) where namesRegion, (307, _) where namesRegion, (400, "AuthorizationHeaderMalformed"),
      (_, "PermanentRedirect"), (_, "TemporaryRedirect"):
      return GodwitError(
        .refused, "\(answer): the bucket is in another region than \(region)", hint: "add ?region=NAME to the URL")
    case (403, _):
      return GodwitError(
        .refused, "\(answer): these keys may not do this in bucket \(bucket)",
        hint: "allow them to list the bucket, and to read, write and delete objects under the prefix")
    case (300..<400, _):
      return GodwitError(
        .refused, "\(answer): the bucket answers at another address",
        hint: "see the endpoint's scheme and host: http:// or https://")
    case (413, _):
      return GodwitError(
        .refused, "\(answer): a file is larger than the store, or a proxy in front of it, takes",
        hint: "have that limit raised; of nginx it is client_max_body_size")
    case (507, _):
      return GodwitError(.refused, "\(answer): the store is full", hint: "free some space there")
    case (501, _), (505, _):
      return GodwitError(.refused, answer, hint: "see that the endpoint is the address of an S3 store")
    case (408, _), (429, _), (500..., _):
      return GodwitError(.unreachable, answer, hint: "the store is busy or down; try again later")
    default:
      return GodwitError(.refused, answer, hint: "see that the endpoint is the address of an S3 store")
    }
  }
}
