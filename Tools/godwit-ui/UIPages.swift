import FlyingFox
import Foundation
import Godwit
import GodwitPages
import Synchronization
import ToolSupport

/// Answers requests (Specs/report.md, "The page that lives").
final class UIPages: HTTPHandler {
  private let session: UISession
  /// Nil until the port is known; nobody is answered before.
  private let gate = Mutex<PageGate?>(nil)

  init(_ session: UISession) { self.session = session }

  func open(_ gate: PageGate) { self.gate.withLock { $0 = gate } }

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    do throws(PageGate.Refusal) {
      guard let gate = gate.withLock(\.self) else { throw .host }
      try gate.check(PageGate.Head(request))
    } catch {
      return UIAnswer.refusal(error)
    }
    do {
      return try await request.method == .POST ? act(request) : read(request)
    } catch let error as GodwitError {
      return UIAnswer.problem(error)
    } catch {
      return UIAnswer.problem(GodwitError(.fileAccess, "\(error)"))
    }
  }

  private func read(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch request.path {
    case "/": return UIAnswer.html(LivePage.shell)
    case "/page.css": return UIAnswer.text(LivePage.style, "text/css")
    case "/page.js": return UIAnswer.text(String(decoding: PackageResources.page_js, as: UTF8.self), "text/javascript")
    case "/api/page": return UIAnswer.html(try await session.page())
    case "/api/events": return UIAnswer.events(await session.events())
    case "/api/why":
      if let text = Self.value("conflict", of: request) {
        return UIAnswer.html(try await session.why(Self.conflict(text)))
      }
      let (table, key) = (Self.value("table", of: request) ?? "", Self.value("key", of: request) ?? "")
      return UIAnswer.html(try await session.why(table, key))
    default: throw GodwitError(.notFound, "there is no such page")
    }
  }

  private func act(_ request: HTTPRequest) async throws -> HTTPResponse {
    switch request.path {
    case "/api/restore":
      let text = try await Self.body(of: request)["conflict"]
      let hasWritten = try await session.restore(Self.conflict(text as? String ?? ""))
      return UIAnswer.json(["written": .bool(hasWritten)])
    case "/api/sync":
      try await session.sync()
      return UIAnswer.json(["begun": .bool(true)])
    default: throw GodwitError(.notFound, "there is no such action")
    }
  }

  private static func value(_ name: String, of request: HTTPRequest) -> String? {
    request.query.first { $0.name == name }?.value
  }

  private static func conflict(_ text: String) throws -> Conflict.ID {
    guard let conflict = Conflict.ID(text) else { throw GodwitError(.invalidArgument, "that is no conflict's number") }
    return conflict
  }

  private static func body(of request: HTTPRequest) async throws -> [String: Any] {
    guard let object = try? JSONSerialization.jsonObject(with: await request.bodyData) as? [String: Any] else {
      throw GodwitError(.invalidArgument, "the request is no JSON object")
    }
    return object
  }
}

extension PageGate.Head {
  fileprivate init(_ request: HTTPRequest) {
    let headers = request.headers.map { ($0.key.rawValue.lowercased(), $0.value) }
    // Of several of one name FlyingFox keeps the last.
    self.init(
      method: request.method.rawValue, path: request.path, headers: Dictionary(headers) { $1 })
  }
}
