import FlyingFox
import FlyingSocks
import Foundation
import Godwit
import GodwitFiles

/// Where an agent answers on this machine (Specs/agent.md, "How it is").
struct AgentSocket {
  private static let name = "agent.sock"
  /// How long an agent may take to answer.
  private static let patience = Duration.seconds(30)

  let path: String

  init(_ path: String) { self.path = path }

  /// Where a new agent is to answer.
  static func new(_ option: String?, _ environment: [String: String] = ProcessInfo.processInfo.environment) -> Self {
    Self(option ?? places(environment)[0])
  }

  /// Where one answers: the first place at which somebody does, or else the first that there is. One that was killed
  /// leaves its socket.
  static func existing(
    _ option: String?, _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Self {
    let places = option.map { [$0] } ?? places(environment)
    let present = places.filter { FileManager.default.fileExists(atPath: $0) }
    let answering = present.count > 1 ? present.first(where: isAnswered) : nil
    return Self(answering ?? present.first ?? places[0])
  }

  private static func isAnswered(_ path: String) -> Bool {
    guard case .success(let descriptor)? = (try? SocketPath(path))?.connect() else { return false }
    close(descriptor)
    return true
  }

  private static func places(_ environment: [String: String]) -> [String] {
    func folder(_ variable: String) -> String? { environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    if let path = environment["GODWIT_AGENT_SOCKET"], !path.isEmpty { return [path] }
    // Of several that a unit has, joined by colons, the first.
    let runtime = folder("RUNTIME_DIRECTORY").map { String($0.prefix { $0 != ":" }) }
    let folders = [runtime, folder("XDG_RUNTIME_DIR").map { "\($0)/godwit" }, "/run/godwit"]
    return folders.compactMap { $0.map { "\($0)/\(name)" } }
  }

  /// Makes room for a new socket, which is this agent's for as long as the lock is kept.
  ///
  /// - Throws: `invalidArgument` for a path that is too long; `busy` when another agent has it; `unsafeFile` for what
  ///   is no socket; `fileAccess`.
  func claim() throws -> LockFile {
    guard let lock = try SocketPath(path).claim() else {
      throw GodwitError(.busy, "an agent answers at \(path) already", hint: "see: godwit agent status")
    }
    return lock
  }

  /// A page of the agent's, and whether its status is 200.
  ///
  /// - Throws: `unreachable` where there is no agent, `fileAccess` where this user may not ask.
  func get(_ page: String) async throws -> (text: String, isGood: Bool) {
    let place = try SocketPath(path)
    switch place.connect() {
    case .success(let descriptor): close(descriptor)
    case .failure(let error) where error.code == .EACCES:
      throw GodwitError(.fileAccess, "\(path) is not open to this user", hint: "ask as the agent's user or group")
    case .failure:
      throw GodwitError(.unreachable, "no agent answers at \(path)", hint: "start one: godwit agent run FOLDER")
    }
    let address = place.address
    return try await withThrowingTaskGroup(of: (String, Bool).self) { group in
      group.addTask {
        var client = HTTPClient()
        let request = HTTPRequest(
          method: .GET, version: .http11, path: page, query: [], headers: [.host: "localhost"], body: Data())
        let response = try await client.sendHTTPRequest(request, to: address)
        return (String(decoding: try await response.bodyData, as: UTF8.self), response.statusCode == .ok)
      }
      group.addTask {
        try await Task.sleep(for: Self.patience)
        throw GodwitError(.unreachable, "the agent at \(path) does not answer", hint: "start it anew")
      }
      defer { group.cancelAll() }
      guard let answer = try await group.next() else { throw CancellationError() }
      return (text: answer.0, isGood: answer.1)
    }
  }
}
