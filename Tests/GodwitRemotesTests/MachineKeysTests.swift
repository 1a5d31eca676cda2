import Foundation
import GodwitBase
import TestServers
import Testing

@testable import GodwitRemotes

/// Keys that a machine in a cloud is given (Specs/remotes.md, "URLs").
@Suite("Keys of a container and of an instance")
struct MachineKeysTests {
  private static let json = #"{"AccessKeyId":"one","SecretAccessKey":"two","Token":"three","Expiration":"2026"}"#
  private static let home = ["HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true"]

  private func keys(_ environment: [String: String]) throws -> StoreKeys {
    try StoreSettings(Self.home.merging(environment) { $1 }).keys()
  }

  @Test("come from the container's service, asked with its token and by no proxy")
  func container() throws {
    let service = try FaultProxy()
    service.plan(.answer(status: 200, body: Self.json))
    let keys = try keys([
      "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(service.port)/keys?x=1",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN": "abc",
    ])
    #expect(keys.identifier == "one" && keys.secret == "two" && keys.token == "three")
    #expect(service.requests == ["GET /keys?x=1 HTTP/1.1"])
  }

  @Test("come from the instance's service by a token of its own")
  func instance() throws {
    let service = try FaultProxy()
    service.plan(
      .answer(status: 200, body: "token"), .answer(status: 200, body: "role\n"), .answer(status: 200, body: Self.json))
    let keys = try keys([
      "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(service.port)",
    ])
    #expect(keys.identifier == "one" && keys.token == "three")
    let roles = "/latest/meta-data/iam/security-credentials/"
    #expect(
      service.requests == [
        "PUT /latest/api/token HTTP/1.1", "GET \(roles) HTTP/1.1", "GET \(roles)role HTTP/1.1",
      ])
  }

  @Test("of an instance whose service is busy are to be asked for later", arguments: [0, 1, 2])
  func busy(answers: Int) throws {
    let service = try FaultProxy()
    let bodies = ["token", "role\n"].prefix(answers).map { FaultProxy.Fault.answer(status: 200, body: $0) }
    service.plan(bodies + [.answer(status: 503, body: "")])
    let error = #expect(throws: GodwitError.self) {
      try keys([
        "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(service.port)",
      ])
    }
    #expect(error?.code == .unreachable && error?.hint?.isEmpty == false)
  }

  @Test("of the environment come first")
  func order() throws {
    let keys = try keys([
      "AWS_ACCESS_KEY_ID": "own", "AWS_SECRET_ACCESS_KEY": "x",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://x.invalid/",
    ])
    #expect(keys.identifier == "own")
  }

  @Test(
    "are not asked for without encryption elsewhere, and an answer without any is named",
    arguments: ["http://store.example.org/keys", "ftp://127.0.0.1/", "x", "http://169.254.170.2.example.org/"])
  func unsafe(url: String) throws {
    #expect(throws: GodwitError.self) { try keys(["AWS_CONTAINER_CREDENTIALS_FULL_URI": url]) }
  }

  @Test("that are none refuse", arguments: ["", "{}", "[1]", #"{"AccessKeyId":"one"}"#])
  func none(body: String) throws {
    let service = try FaultProxy()
    service.plan(.answer(status: 200, body: body))
    let error = #expect(throws: GodwitError.self) {
      try keys(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(service.port)/"])
    }
    #expect(error?.code == .refused && error?.message.contains("container") == true)
  }

  @Test("of an instance that nobody answers for are none")
  func nobody() throws {
    let port = try LocalServer.freePort()
    let error = #expect(throws: GodwitError.self) {
      try keys([
        "AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(port)",
      ])
    }
    #expect(error?.hint?.contains("AWS_ACCESS_KEY_ID") == true)
  }
}
