import GodwitBase
import Testing

@testable import GodwitRemotes

/// What a store's answer means (Specs/remotes.md, "Faults", 5 to 10).
@Suite("An answer of a store that is not a good one")
struct StoreFailureTests {
  private func error(_ status: Int, _ code: String, _ headers: [String: String] = [:]) -> GodwitError {
    let body = code.isEmpty ? "" : "<Error><Code>\(code)</Code><Message>hunter2</Message></Error>"
    let answer = HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    return StoreFailure(answer, bucket: "notes", host: "store.example", region: "eu-1").error
  }

  @Test(
    "says who is to act, and by what",
    arguments: [
      (400, "InvalidToken", GodwitError.Code.refused, "AWS_SESSION_TOKEN"), (403, "ExpiredToken", .refused, "new ones"),
      (400, "AuthorizationHeaderMalformed", .refused, "?region=NAME"), (301, "PermanentRedirect", .refused, "?region="),
      (301, "", .refused, "http:// or https://"), (308, "", .refused, "http:// or https://"),
      (501, "NotImplemented", .refused, "the address of an S3 store"), (505, "", .refused, "S3 store"),
      (507, "", .refused, "free some space"), (500, "InternalError", .unreachable, "try again later"),
      (503, "SlowDown", .unreachable, "try again later"), (404, "NoSuchBucket", .refused, "make it"),
      (403, "AccessDenied", .refused, "allow them"), (418, "", .refused, "S3 store"),
    ])
  func hints(status: Int, code: String, meaning: GodwitError.Code, hint: String) {
    let error = error(status, code)
    #expect(error.code == meaning && error.hint?.contains(hint) == true, "\(error)")
    #expect(error.message.contains("store.example answers \(status)") && !"\(error)".contains("hunter2"))
  }

  @Test("moved to another region only where the store says which")
  func region() {
    let headers = ["x-amz-bucket-region": "us-9"]
    #expect(error(301, "", headers).hint == "add ?region=NAME to the URL")
    #expect(error(307, "", headers).hint == "add ?region=NAME to the URL")
    #expect(error(307, "").hint?.contains("scheme") == true)
    let body = Array("<Error><Code>Moved</Code><Region>eu-9</Region></Error>".utf8)
    let said = HTTPResponse(status: 301, headers: [:], body: body)
    #expect(
      StoreFailure(said, bucket: "b", host: "h", region: "eu-1").error.hint == "add ?region=NAME to the URL")
    for odd in ["", "evil.example/", "a:b", String(repeating: "x", count: 65)] {
      #expect(error(301, "", ["x-amz-bucket-region": odd]).hint?.contains("scheme") == true, "\(odd)")
    }
  }
}
