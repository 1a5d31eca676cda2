import FlyingFox
import FlyingSocks
import Foundation
import Godwit
import GodwitPages
import GodwitReports
import ToolServer
import ToolSupport

/// What requests are answered with. No answer may be kept, framed or taken for another type.
enum UIAnswer {
  static func html(_ page: HTML) -> HTTPResponse { text(page.markup, "text/html") }

  static func json(_ value: GodwitReports.JSONValue, _ status: HTTPStatusCode = .ok) -> HTTPResponse {
    text(value.text + "\n", "application/json", status)
  }

  static func text(_ text: String, _ type: String, _ status: HTTPStatusCode = .ok) -> HTTPResponse {
    HTTPResponse(statusCode: status, headers: headers(type), body: Data(text.utf8))
  }

  /// An error, with its hint.
  static func problem(_ error: GodwitError) -> HTTPResponse {
    let status: HTTPStatusCode =
      switch error.code {
      case .notFound, .notInSchema: .notFound
      case .invalidArgument: .badRequest
      case .busy: .serviceUnavailable
      default: .internalServerError
      }
    let object: GodwitReports.JSONValue = [
      "code": .string(error.code.rawValue), "message": .string(error.message),
      "hint": error.hint.map { .string($0) } ?? .null,
    ]
    return json(object, status)
  }

  static func refusal(_ refusal: PageGate.Refusal) -> HTTPResponse {
    let (status, message, hint): (HTTPStatusCode, String, String?) =
      switch refusal {
      case .host: (.forbidden, "this host is not served", "open the address that godwit ui printed")
      case .origin: (.forbidden, "a page of another origin asks", nil)
      case .token: (.unauthorized, "the token is not this run's", "open the address that godwit ui printed last")
      case .form: (.methodNotAllowed, "this is not asked for so", nil)
      }
    let object: GodwitReports.JSONValue = ["message": .string(message), "hint": hint.map { .string($0) } ?? .null]
    let text = Data((object.text + "\n").utf8)
    // Its body may be unread, and what follows of it would be taken for the next request.
    return HTTPResponse(
      statusCode: status, headers: headers("application/json"),
      body: HTTPBodySequence(from: LastBytes(text), count: text.count))
  }

  /// Events as they come, until the page is closed.
  static func events(_ events: AsyncStream<UISession.Event>) -> HTTPResponse {
    HTTPResponse(
      statusCode: .ok, headers: headers("text/event-stream"), body: HTTPBodySequence(from: UIEvents(events)))
  }

  private static func headers(_ type: String) -> HTTPHeaders {
    PageServer.headers(
      type,
      [
        HTTPHeader("Content-Security-Policy"): LivePage.policy, HTTPHeader("X-Frame-Options"): "DENY",
        HTTPHeader("Referrer-Policy"): "no-referrer", HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
        HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
      ])
  }
}
