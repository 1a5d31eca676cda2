import Foundation
import GodwitBase
import GodwitFiles
import TestServers
import Testing

@testable import GodwitRemotes

/// Specs/remotes.md, "Faults": an S3 server behind a proxy that fails as stores and networks do.
@Suite("Faults of an object store", .enabled(if: RcloneStore.program != nil, "rclone is not there"))
struct StoreFaultTests {
  private struct Place {
    let store: RcloneStore
    let proxy: FaultProxy
    let carrier: ObjectStoreCarrier
    let work: Workspace

    init(
      environment: [String: String] = RcloneStore.environment, region: String = "",
      total: Duration = .milliseconds(500)
    ) throws {
      store = try RcloneStore()
      proxy = try FaultProxy(to: store.server.port)
      carrier = try .test(port: proxy.port, environment: environment, region: region, total: total)
      work = try Workspace()
    }

    func put(_ bytes: [UInt8], as name: String = "m/a") throws -> CarriedFile {
      try carrier.write(name, from: work.file("spool", bytes), meter: TransferMeter())
    }

    func get(_ name: String = "m/a") throws -> [UInt8]? {
      let sink = MemorySink()
      return try carrier.read(name, into: sink, limit: 1 << 30, meter: TransferMeter()).map { _ in sink.bytes }
    }
  }

  private static func error(_ code: String, _ more: String = "") -> String {
    "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>not-a-secret</Message>\(more)</Error>"
  }

  @Test("busy: the same is asked for again", arguments: [408, 429, 500, 502, 503, 504])
  func busy(status: Int) throws {
    let place = try Place()
    place.proxy.plan(.answer(status: status), .answer(status: status))
    _ = try place.put([1, 2, 3])
    #expect(try place.get() == [1, 2, 3])
    #expect(place.proxy.requests.filter { $0.hasPrefix("PUT") }.count == 3)
  }

  @Test("busy for too long: given up, and named")
  func busyForLong() throws {
    let place = try Place()
    place.proxy.plan(.answer(status: 503, headers: ["Retry-After: 60"], body: Self.error("SlowDown")))
    let error = #expect(throws: GodwitError.self) { try place.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .unreachable && error?.message.contains("503 SlowDown") == true)
    #expect(place.proxy.requests.count == 1)
  }

  @Test("busy again and again: given up once all requests of a pass have lost as long as one may")
  func busyForAll() throws {
    let place = try Place(total: .seconds(2))
    let busy = FaultProxy.Fault.answer(status: 503)
    let list = FaultProxy.Fault.answer(status: 200, body: "<ListBucketResult></ListBucketResult>")
    place.proxy.plan((0..<300).flatMap { _ in [busy, busy, list] })
    var count = 0
    let error = #expect(throws: GodwitError.self) {
      while count < 300 {
        _ = try place.carrier.list("m", meter: TransferMeter())
        count += 1
      }
    }
    #expect(error?.code == .unreachable && count > 1, "\(count)")
  }

  @Test("an answer that is cut is fetched once more into memory, as a marker is, and nothing of it is there twice")
  func cut() throws {
    let place = try Place()
    _ = try place.put(Array(repeating: 7, count: 500_000))
    let other = try Place()
    _ = try other.put(Array(repeating: 7, count: 500_000))
    other.proxy.plan(.cut(after: 100_000))
    let fresh = try ObjectStoreCarrier.test(port: other.proxy.port)
    let sink = MemorySink()
    _ = try fresh.read("m/a", into: sink, limit: 1 << 20, meter: TransferMeter())
    #expect(sink.bytes == Array(repeating: 7, count: 500_000))
    #expect(other.proxy.requests.filter { $0.hasPrefix("GET") }.count == 2)
  }

  @Test("an answer that is cut is fetched once more into a file")
  func cutFile() throws {
    let place = try Place()
    _ = try place.put(Array(repeating: 7, count: 500_000))
    place.proxy.plan(.cut(after: 300_000), .cut(after: 100_000))
    let fresh = try ObjectStoreCarrier.test(port: place.proxy.port)
    let path = "\(place.work.path)/fetched"
    let file = try PendingFile(replacing: path)
    _ = try fresh.read("m/a", into: file, limit: 500_000, meter: TransferMeter())
    try file.commit()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(repeating: 7, count: 500_000))
    #expect(place.proxy.requests.filter { $0.hasPrefix("GET") }.count == 3)
  }

  @Test("a request that came too slowly is sent again, and a pause may be asked for until a time")
  func slow() throws {
    let place = try Place(total: .seconds(5))
    let past = ["Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"]
    place.proxy.plan(
      .answer(status: 400, body: Self.error("RequestTimeout")), .answer(status: 503, headers: past))
    #expect(try place.carrier.list("m", meter: TransferMeter()).isEmpty)
    let later = ["Retry-After: Wed, 21 Oct 2099 07:28:00 GMT"]
    let other = try Place(total: .seconds(5))
    other.proxy.plan(.answer(status: 503, headers: later))
    #expect(throws: GodwitError.self) { try other.carrier.list("m", meter: TransferMeter()) }
  }

  @Test("a connection that is reset, and an answer that is lost: the same bytes again")
  func reset() throws {
    for fault in [FaultProxy.Fault.reset, .loseAnswer] {
      let place = try Place()
      place.proxy.plan(fault, fault)
      _ = try place.put([1, 2, 3])
      #expect(try place.get() == [1, 2, 3])
      #expect(try place.carrier.list("m", meter: TransferMeter()).count == 1)
    }
  }

  @Test("a store that is silent is given up after a while without a byte")
  func silent() throws {
    let proxy = try FaultProxy()
    proxy.plan(.silence)
    let carrier = try ObjectStoreCarrier.test(port: proxy.port, silence: 1)
    let error = #expect(throws: GodwitError.self) { try carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .unreachable)
  }

  @Test(
    "a certificate that does not fit is refused, and another one is named by the URL",
    .enabled(if: Certificate.isHere, "there is no program openssl"), arguments: Certificate.allCases)
  func certificate(_ certificate: Certificate) throws {
    let work = try Workspace()
    let (key, file) = try certificate.make(in: work)
    let server = try LocalServer(
      Certificate.program, { ["s_server", "-quiet", "-www", "-accept", "127.0.0.1:\($0)", "-key", key, "-cert", file] })
    let other = try Workspace()
    let authority =
      switch certificate {
      case .unknown: ""
      case .ofAnotherAuthority: "&ca=\(try Certificate.good.make(in: other).certificate)"
      default: "&ca=\(file)"
      }
    guard
      case .bucket(let address) = try RemoteURL("s3://bucket/x?endpoint=https://127.0.0.1:\(server.port)\(authority)")
    else { throw CocoaError(.fileReadUnknown) }
    let carrier = try ObjectStoreCarrier(address, environment: RcloneStore.environment)
    let error = #expect(throws: GodwitError.self) { try carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.hint?.contains(certificate.hint) == true, "\(String(describing: error))")
    #expect(error?.message.contains("no safe connection") == (certificate != .good))
  }

  @Test("nobody there")
  func nobody() throws {
    let carrier = try ObjectStoreCarrier.test(port: LocalServer.freePort())
    let error = #expect(throws: GodwitError.self) { try carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .unreachable && error?.hint != nil)
  }

  @Test("wrong keys, and no word of them in the error")
  func keys() throws {
    let secret = "a-wrong-secret-4711"
    let place = try Place(environment: RcloneStore.environment.merging(["AWS_SECRET_ACCESS_KEY": secret]) { $1 })
    let error = #expect(throws: GodwitError.self) { try place.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.hint?.contains("AWS_SECRET_ACCESS_KEY") == true)
    #expect(error.map { !"\($0)".contains(secret) } == true)
  }

  @Test("no keys at all")
  func noKeys() throws {
    let error = #expect(throws: GodwitError.self) {
      try Place(environment: ["HOME": "/nonexistent", "AWS_EC2_METADATA_DISABLED": "true"])
    }
    #expect(error?.code == .refused && error?.hint?.contains("~/.aws/credentials") == true)
  }

  @Test(
    "what a store says is wrong is named with what to change",
    arguments: [
      (404, "NoSuchBucket", "make it"), (403, "AccessDenied", "allow"), (403, "SignatureDoesNotMatch", "AWS_SECRET"),
      (403, "InvalidAccessKeyId", "AWS_SECRET"), (400, "AuthorizationHeaderMalformed", "region"),
      (301, "PermanentRedirect", "region"), (405, "MethodNotAllowed", "endpoint"), (200, "", "endpoint"),
    ])
  func named(status: Int, code: String, hint: String) throws {
    let place = try Place()
    place.proxy.plan(.answer(status: status, body: code.isEmpty ? "<html>welcome" : Self.error(code)))
    let error = #expect(throws: GodwitError.self) { try place.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.hint?.contains(hint) == true)
    #expect(error.map { !"\($0)".contains("not-a-secret") } == true)
  }

  @Test("a bucket that does not exist is not an object that does not")
  func bucket() throws {
    let place = try Place()
    let carrier = try ObjectStoreCarrier.test(port: place.store.server.port, bucket: "nobucket")
    let error = #expect(throws: GodwitError.self) { try carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.message.contains("nobucket") == true)
  }

  @Test("another region is taken once")
  func region() throws {
    let moved = FaultProxy.Fault.answer(
      status: 400, body: Self.error("AuthorizationHeaderMalformed", "<Region>eu-2</Region>"))
    let place = try Place(region: "eu-1")
    place.proxy.plan(moved)
    #expect(try place.carrier.list("m", meter: TransferMeter()).isEmpty)
    #expect(place.proxy.requests.count == 2)
    let scopes = place.proxy.scopes.compactMap { $0.split(separator: "/").dropFirst(2).first }
    #expect(scopes == ["eu-1", "eu-2"])
    let other = try Place(region: "eu-1")
    other.proxy.plan(moved, .answer(status: 301, headers: ["x-amz-bucket-region: eu-3"]))
    let error = #expect(throws: GodwitError.self) { try other.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && other.proxy.requests.count == 2)
  }

  @Test("a clock that is off is named, with how far", arguments: [("2001", "ahead of"), ("2091", "behind")])
  func skew(year: String, direction: String) throws {
    let place = try Place()
    place.proxy.plan(
      .answer(
        status: 403, headers: ["Date: Wed, 31 Jan \(year) 09:30:00 GMT"], body: Self.error("RequestTimeTooSkewed")))
    let error = #expect(throws: GodwitError.self) { try place.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.message.contains("s \(direction) the store's") == true, "\(error as Any)")
    #expect(error?.hint?.contains("set the clock") == true)
    #expect(place.proxy.requests.count == 1)
  }

  @Test("keys that have expired are read anew, once")
  func expired() throws {
    let work = try Workspace()
    let file = try work.file("credentials", Array("[default]\naws_access_key_id=old\naws_secret_access_key=old\n".utf8))
    let place = try Place(environment: ["AWS_SHARED_CREDENTIALS_FILE": file, "HOME": "/nonexistent"])
    _ = try work.file(
      "credentials",
      Array("[other]\n[default]\naws_access_key_id = godwit\n# x\naws_secret_access_key = not-a-secret\n".utf8))
    place.proxy.plan(.answer(status: 400, body: Self.error("ExpiredToken")))
    #expect(try place.carrier.list("m", meter: TransferMeter()).isEmpty)
  }

  @Test("a profile that stands nowhere is named, and no other keys are looked for")
  func noProfile() throws {
    let work = try Workspace()
    let file = try work.file("credentials", Array("[default]\naws_access_key_id=a\naws_secret_access_key=b\n".utf8))
    let environment = ["AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "staging", "HOME": "/nonexistent"]
    let error = #expect(throws: GodwitError.self) { try StoreSettings(environment).keys() }
    #expect(error?.code == .refused && error?.message.contains("staging") == true)
    let given = environment.merging(["AWS_ACCESS_KEY_ID": "c", "AWS_SECRET_ACCESS_KEY": "d"]) { $1 }
    #expect(try StoreSettings(given).keys().identifier == "c")
  }

  @Test(
    "half of the keys, and a profile that gets them in another way, do not become the machine's own",
    arguments: [
      ("", ["AWS_ACCESS_KEY_ID": "hunter2"], "AWS_SECRET_ACCESS_KEY"),
      ("", ["AWS_SECRET_ACCESS_KEY": "hunter2"], "AWS_ACCESS_KEY_ID"),
      ("aws_access_key_id = hunter2", [:], "aws_secret_access_key"), ("role_arn = hunter2", [:], "role_arn"),
      ("sso_session = hunter2", [:], "sso_session"), ("web_identity_token_file = /x", [:], "web_identity_token_file"),
      ("role_arn = x\naws_access_key_id = hunter2\naws_secret_access_key = hunter2", [:], "role_arn"),
      ("", ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "hunter2"], "AWS_WEB_IDENTITY_TOKEN_FILE"),
    ])
  func otherWays(line: String, environment: [String: String], named: String) throws {
    let machine = try FaultProxy()
    let work = try Workspace()
    let file = try work.file("config", Array("[default]\n\(line)\n".utf8))
    let own = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(machine.port)", "HOME": "/nonexistent"]
    let all = own.merging(environment) { $1 }.merging(["AWS_CONFIG_FILE": file]) { $1 }
    let error = #expect(throws: GodwitError.self) { try StoreSettings(all).keys() }
    #expect(error?.code == .refused && error?.message.contains(named) == true && error?.hint?.isEmpty == false)
    #expect(error.map { !"\($0)".contains("hunter2") } == true && machine.requests.isEmpty)
  }

  @Test("pauses are anything up to twice the one before, at least as long as a store asks, and end with the patience")
  func pauses() {
    let patience = StorePatience(total: .seconds(900), first: .seconds(1))
    for number in 0..<20 {
      let longest = Duration.seconds(min(1 << number, 300))
      let pauses = (0..<50).compactMap { _ in patience.pause(try: number, after: .zero, asked: nil) }
      #expect(pauses.count == 50 && pauses.allSatisfy { .zero...longest ~= $0 } && Set(pauses).count > 10)
    }
    let asked = patience.pause(try: 0, after: .zero, asked: .seconds(60))
    #expect(asked == .seconds(60))
    #expect(patience.pause(try: 0, after: .seconds(850), asked: .seconds(60)) == nil)
    #expect(patience.pause(try: 9, after: .seconds(900), asked: nil) == nil)
    #expect(patience.pause(try: 0, after: .zero, asked: .seconds(9_999)) == .seconds(900))
  }

  @Test("keys come from a profile, and from a program")
  func profiles() throws {
    let work = try Workspace()
    let json = "{\"Version\":1,\"AccessKeyId\":\"godwit\",\"SecretAccessKey\":\"not-a-secret\"}"
    let file = try work.file(
      "config", Array("[profile ada]\nregion = eu-7\ncredential_process = echo '\(json)'\n".utf8))
    let place = try Place(
      environment: ["AWS_CONFIG_FILE": file, "AWS_PROFILE": "ada", "HOME": "/nonexistent"])
    #expect(try place.carrier.list("m", meter: TransferMeter()).isEmpty)
    // What it leaves running, with its output open, is not waited for: here until somebody opens a pipe.
    let pipe = "\(work.path)/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let command = "(read line <'\(pipe)') 2>/dev/null & echo '\(json)'"
    let leaving = try work.file("config", Array("[profile ada]\ncredential_process = \(command)\n".utf8))
    #expect(try StoreSettings(["AWS_PROFILE": "ada", "AWS_CONFIG_FILE": leaving]).keys().identifier == "godwit")
    close(open(pipe, O_WRONLY))
    let failing = try work.file("config", Array("[profile ada]\ncredential_process = echo hunter2; exit 3\n".utf8))
    let error = #expect(throws: GodwitError.self) {
      try Place(environment: ["AWS_CONFIG_FILE": failing, "AWS_PROFILE": "ada", "HOME": "/nonexistent"])
    }
    #expect(error?.code == .refused && error.map { !"\($0)".contains("hunter2") } == true)
  }

  @Test("a list that breaks off, or says the same again, is no list", arguments: ["x", ""])
  func broken(token: String) throws {
    let next = token.isEmpty ? "" : "<NextContinuationToken>\(token)</NextContinuationToken>"
    let body = "<ListBucketResult><IsTruncated>true</IsTruncated>\(next)</ListBucketResult>"
    let place = try Place()
    place.proxy.plan(.answer(status: 200, body: body), .answer(status: 200, body: body))
    let error = #expect(throws: GodwitError.self) { try place.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.message.contains("breaks off") == true)
    #expect(place.proxy.requests.count == (token.isEmpty ? 1 : 2))
  }

  @Test("a list of more files than are kept is refused, not cut")
  func long() throws {
    let objects = String(repeating: "<Contents><Key>prefix/m/a</Key><Size>1</Size></Contents>", count: 60_000)
    let pages = (0..<3).map { page in
      let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>\(page)</NextContinuationToken>"
      return FaultProxy.Fault.answer(status: 200, body: "<ListBucketResult>\(objects)\(next)</ListBucketResult>")
    }
    let place = try Place()
    place.proxy.plan(pages)
    let error = #expect(throws: GodwitError.self) { try place.carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .refused && error?.message.contains("does not end") == true)
    #expect(place.proxy.requests.count == 2)
  }

  @Test("names that are odd in a list, and sizes")
  func lists() throws {
    let long = "<Contents><Key>prefix/m/\(String(repeating: "x", count: 300))</Key><Size>5</Size></Contents>"
    let odd = "<Contents><Key>prefix/m/a</Key><Size>-5</Size></Contents><Contents><Key>etc</Key></Contents>"
    let place = try Place()
    place.proxy.plan(.answer(status: 200, body: "<ListBucketResult>\(odd)\(long)</ListBucketResult>"))
    #expect(try place.carrier.list("m", meter: TransferMeter()).map(\.name) == ["m/a"])
  }
}

/// What a store may show for itself.
enum Certificate: CaseIterable, Sendable {
  case good, unknown, expired, ofAnotherHost, ofAnotherAuthority

  static let program = "/usr/bin/openssl"
  static var isHere: Bool { FileManager.default.isExecutableFile(atPath: program) }

  /// What the error's hint names. Behind a good one stands no store.
  var hint: String { self == .good ? "endpoint" : "?ca=FILE" }

  /// Makes a key and the certificate; returns their files.
  func make(in work: Workspace) throws -> (key: String, certificate: String) {
    let (key, certificate) = ("\(work.path)/key.pem", "\(work.path)/certificate.pem")
    let host = self == .ofAnotherHost ? "127.0.0.2" : "127.0.0.1"
    let names = try work.file("names", Array("subjectAltName=IP:\(host)".utf8))
    let days = self == .expired ? "-1" : "2"
    for arguments in [
      ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key],
      ["x509", "-new", "-subj", "/CN=\(host)", "-signkey", key, "-days", days, "-extfile", names, "-out", certificate],
    ] {
      let making = try Process.run(URL(fileURLWithPath: Self.program), arguments: arguments)
      making.waitUntilExit()
      guard making.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
    return (key, certificate)
  }
}
