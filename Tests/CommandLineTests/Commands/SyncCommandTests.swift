import Foundation
import TestServers
import Testing

/// `godwit remote` and `godwit sync`.
@Suite struct SyncCommandTests {
  private let keys = ["AWS_ACCESS_KEY_ID": "godwit", "AWS_SECRET_ACCESS_KEY": "not-a-secret"]

  /// Two machines with one row each, and a folder that both reach.
  private func pair() async throws -> (desk: Machine, laptop: Machine, stick: String) {
    let (desk, laptop) = try await Machine.pair()
    let stick = desk.path("stick")
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    return (desk, laptop, stick)
  }

  @Test func aStickBringsChangesFromOneMachineToTheOther() async throws {
    let (desk, laptop, stick) = try await pair()
    #expect(try desk.godwit("put", "todo", "--as", "1", input: Data("{\"text\":\"plants\"}".utf8)).status == 0)
    #expect(try desk.godwit("remote", "add", "stick", stick).status == 0)
    let sent = try desk.godwit("sync")
    #expect(sent.status == 0 && sent.text.hasPrefix("stick: 0 applied (0 rows), "), "\(sent.text)\(sent.error)")
    #expect(try laptop.godwit("remote", "add", "home", stick).status == 0)
    let taken = try laptop.godwit("sync", "home")
    #expect(taken.text.contains(" from desk, ") && taken.text.contains(" published ("), "\(taken.text)\(taken.error)")
    #expect(try laptop.godwit("get", "todo", "1").text == "{\"text\":\"plants\"}\n")
    _ = try desk.godwit("sync")
    #expect(try desk.godwit("sync").text == "stick: 0 applied (0 rows), nothing to publish\n")
    #expect(try desk.godwit("remote", "list").lines.last?.hasSuffix(" ok     \(stick)") == true)
    #expect(try desk.godwit("status").text.contains("remote     stick, synced 20"))
  }

  @Test func theFirstUseIsOneLine() async throws {
    let (desk, _, stick) = try await pair()
    let outcome = try desk.shell("\"$GODWIT\" remote add home \(stick)/godwit && \"$GODWIT\" sync")
    #expect(outcome.status == 0 && outcome.text.hasPrefix("home: 0 applied"), "\(outcome.text)\(outcome.error)")
    #expect(FileManager.default.fileExists(atPath: "\(stick)/godwit/godwit-remote"))
  }

  @Test func theJSONIsOfOneLineForEachRemote() async throws {
    let (desk, _, stick) = try await pair()
    let added = try desk.godwit("remote", "add", "stick", stick, "--json")
    let remote: Set = ["name", "url", "added", "synced", "problem", "found", "refused"]
    #expect(try Set(#require(try added.objects().first).keys) == remote)
    #expect(try Set(#require(try desk.godwit("remote", "list", "--json").objects().first).keys) == remote)
    let tested = try desk.godwit("remote", "test", "stick", "--json")
    #expect(try Set(#require(try tested.objects().first).keys) == ["remote", "honoursConditions"])
    let synced = try desk.godwit("sync", "--json")
    #expect(
      try Set(#require(try synced.objects().first).keys) == [
        "remote", "applied", "rows", "conflicts", "waiting", "stateTaken", "files", "fetchedBytes", "published",
        "publishedBytes", "logged", "statePublished", "findings", "refused", "leftOut", "error",
      ])
    #expect(try desk.godwit("remote", "remove", "stick", "--json").text == "{\"removed\":\"stick\"}\n")
    #expect(try desk.godwit("remote", "list", "--json").text.isEmpty)
  }

  @Test func aThirdMachineJoinsAtARemoteWithTwoCommands() async throws {
    let (desk, _, stick) = try await pair()
    #expect(try desk.godwit("put", "todo", "--as", "1", input: Data("{\"text\":\"plants\"}".utf8)).status == 0)
    #expect(try desk.godwit("member", "add", "--from", "stick").error.contains("there is no remote"))
    #expect(try desk.godwit("remote", "add", "stick", stick).status == 0)
    let nobody = try desk.godwit("member", "add", "--from", "stick")
    #expect(nobody.status == 1 && nobody.error.contains("nobody asks to join at stick"), "\(nobody.error)")
    let phone = try Machine("phone")
    let asked = try phone.godwit("join", stick, "--name", "phone", "--json")
    let request = try #require(try asked.objects().first)
    #expect(Set(request.keys) == ["requested", "replica", "fingerprint", "words"], "\(asked.error)")
    let fingerprint = try #require(request["fingerprint"] as? String)
    let answered = try desk.godwit("member", "add", "--from", "stick", "--fingerprint", fingerprint)
    #expect(answered.status == 0 && answered.error.contains("who joins compares"), "\(answered.error)")
    let own = try desk.godwit("identity", "--fingerprint").text.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(try phone.godwit("join", stick, "--limit-rate", "999").error.contains("1000 or more"))
    let joined = try phone.godwit("join", stick, "--fingerprint", own, "--limit-rate", "10M")
    #expect(joined.status == 0 && joined.error.contains("joined as phone, with desk"), "\(joined.error)")
    #expect(joined.text.hasPrefix("home: ") && joined.text.contains(" from desk, "), "\(joined.text)")
    #expect(try phone.godwit("get", "todo", "1").text == "{\"text\":\"plants\"}\n")
    #expect(try phone.godwit("join", stick).error.contains("belongs to a group already"))
  }

  @Test func aRemovedMembersKeysAreToBeRevokedAtEachRemote() async throws {
    let (desk, _, stick) = try await pair()
    for (name, url) in [("stick", stick), ("nas", "ssh://nas/srv/notes")] {
      try #require(try desk.godwit("remote", "add", name, url).status == 0)
    }
    let removed = try desk.godwit("member", "remove", "laptop")
    #expect(removed.error.contains("take its key out of authorized_keys on the host of nas: ssh://nas/srv/notes"))
    #expect(removed.error.contains("see whether it may still reach stick: \(stick)"), "\(removed.error)")
    let phone = try Machine("phone")
    try desk.invite(phone)
    let object = try desk.godwit("member", "remove", "phone", "--json").objects().first
    let revoke = try #require(object?["revoke"] as? [[String: String]])
    #expect(Set(revoke.compactMap { $0["url"] }) == ["ssh://nas/srv/notes", stick])
    #expect(revoke.allSatisfy { Set($0.keys) == ["name", "url"] })
  }

  @Test func withoutARemoteItSaysHowToAddOne() async throws {
    let (desk, _, stick) = try await pair()
    let outcome = try desk.godwit("sync")
    #expect(outcome.status == 1 && outcome.error.contains("godwit remote add NAME URL"))
    _ = try desk.godwit("remote", "add", "stick", stick)
    let other = try desk.godwit("sync", "home")
    #expect(other.status == 1 && other.error.contains("there are: stick"))
  }

  @Test func whatCannotBeReachedExitsWith16AndTheOthersAreSynced() async throws {
    let (desk, _, stick) = try await pair()
    let away = desk.path("away")
    try FileManager.default.createDirectory(atPath: away, withIntermediateDirectories: true)
    for (name, path) in [("away", away), ("stick", stick)] { _ = try desk.godwit("remote", "add", name, path) }
    try FileManager.default.removeItem(atPath: away)
    let outcome = try desk.godwit("sync")
    #expect(outcome.status == 16 && outcome.error.contains("hint: mount"), "\(outcome.error)")
    #expect(outcome.text.hasPrefix("stick: "))
    #expect(try desk.godwit("remote", "list").text.contains("unreachable since 20"))
  }

  @Test func whatRefusesExitsWith17AndNamesWhatToChange() async throws {
    let (desk, _, _) = try await pair()
    let port = try LocalServer.freePort()
    let outcome = try desk.godwit("remote", "add", "store", "s3://bucket/x?endpoint=http://127.0.0.1:\(port)")
    #expect(outcome.status == 17 && outcome.error.contains("AWS_ACCESS_KEY_ID"), "\(outcome.error)")
    let secret = try desk.godwit("remote", "add", "store", "s3://key:hunter2@bucket/x")
    #expect(secret.status == 1 && secret.error.contains("~/.aws/credentials") && !secret.error.contains("hunter2"))
    let nobody = try desk.godwit(
      "remote", "add", "store", "s3://bucket/x?endpoint=http://127.0.0.1:\(port)", environment: keys)
    #expect(nobody.status == 16 && nobody.error.contains("127.0.0.1:\(port)"))
    #expect(try desk.godwit("remote", "list").lines.count == 1)
  }

  @Test func aProxyThatIsNotThereIsNamed() async throws {
    let (desk, _, _) = try await pair()
    let outcome = try desk.godwit(
      "remote", "add", "store", "s3://bucket/x?endpoint=http://store.invalid",
      environment: keys.merging(["http_proxy": "http://user:hunter2@proxy.invalid:3128"]) { $1 })
    #expect(outcome.status == 16 && outcome.error.contains("proxy"), "\(outcome.error)")
    #expect(!outcome.error.contains("hunter2"))
  }

  @Test(arguments: ["http_proxy", "all_proxy"])
  func aProxyThatIsDownIsNamed(variable: String) async throws {
    let (desk, _, _) = try await pair()
    func add(_ more: [String: String]) throws -> Outcome {
      let environment = [variable: "http://127.0.0.1:2"].merging(keys) { $1 }.merging(more) { $1 }
      return try desk.godwit(
        "remote", "add", "store", "s3://bucket/x?endpoint=http://127.0.0.1:3", environment: environment)
    }
    let outcome = try add([:])
    #expect(outcome.status == 16 && outcome.error.contains("the proxy of \(variable) cannot"), "\(outcome.error)")
    let direct = try add(["no_proxy": "localhost,127.0.0.1"])
    #expect(direct.status == 16 && !direct.error.contains("proxy"), "\(direct.error)")
  }

  /// One that asks for a password, and one that does not connect.
  @Test(arguments: [("https", 407), ("https", 403), ("http", 407)])
  func aProxyThatRefusesIsNamed(scheme: String, status: Int) async throws {
    let (desk, _, _) = try await pair()
    let proxy = try FaultProxy()
    proxy.plan(Array(repeating: .answer(status: status), count: 4))
    let variable = "\(scheme)_proxy"
    let outcome = try desk.godwit(
      "remote", "add", "store", "s3://bucket/x?endpoint=\(scheme)://store.invalid",
      environment: keys.merging([variable: "http://user:hunter2@127.0.0.1:\(proxy.port)"]) { $1 })
    #expect(
      outcome.status == 17 && outcome.error.contains("the proxy of \(variable) answers \(status)"), "\(outcome.error)")
    #expect(!outcome.error.contains("hunter2"))
  }

  @Test(arguments: [
    ("s3://bucket/x?endpoint=https://s3.example.org/bucket", "the endpoint has a path"),
    ("s3://Bucket_X/x", "no bucket is called Bucket_X"), ("s3://mb/x", "no bucket is called mb"),
  ])
  func aMistakeInABucketsURLIsNamed(url: String, message: String) async throws {
    let (desk, _, _) = try await pair()
    let outcome = try desk.godwit("remote", "add", "store", url, environment: keys)
    #expect(outcome.status != 0 && outcome.error.contains(message), "\(outcome.error)")
  }

  @Test(.enabled(if: RcloneStore.program != nil, "rclone is not there"))
  func aPollIsOneRequest() async throws {
    let (desk, laptop, _) = try await pair()
    let store = try RcloneStore()
    let proxy = try FaultProxy(to: store.server.port)
    for (machine, port) in [(desk, store.server.port), (laptop, proxy.port)] {
      let url = "s3://bucket/notes?endpoint=http://127.0.0.1:\(port)"
      #expect(try machine.godwit("remote", "add", "store", url, environment: keys).status == 0)
    }
    func sync(_ machine: Machine, _ arguments: String...) throws -> [String] {
      let before = proxy.requests.count
      let outcome = try Machine.finish(
        [machine.process(["sync"] + arguments, environment: keys)], input: Data(), in: machine)
      #expect(outcome.status == 0, "\(outcome.error)")
      return proxy.requests.dropFirst(before).map { String($0.prefix { $0 != "?" }) }
    }
    for _ in 0..<3 { for machine in [desk, laptop] { _ = try sync(machine) } }
    #expect(try sync(laptop) == ["GET /bucket/"])
    _ = try desk.godwit("put", "todo", "--as", "1", input: Data("{\"text\":\"plants\"}".utf8))
    _ = try sync(desk)
    // The list, the news, and what it has to say to that.
    let news = try sync(laptop)
    #expect(news.map { $0.prefix(3) } == ["GET", "GET", "PUT"], "\(news)")
    for _ in 0..<2 {
      _ = try sync(desk, "--collect")
      _ = try sync(laptop)
    }
    // The next file of the log, and nothing else.
    let poll = try sync(laptop)
    #expect(poll.count == 1 && poll[0].hasPrefix("GET /bucket/notes/l/"), "\(poll)")
    _ = try desk.godwit("put", "todo", "--as", "2", input: Data("{\"text\":\"water\"}".utf8))
    _ = try sync(desk, "--collect")
    let followed = try sync(laptop)
    #expect(followed.map { $0.prefix(3) } == ["GET", "GET", "HEA", "PUT"], "\(followed)")
    #expect(try laptop.godwit("get", "todo", "2").text == "{\"text\":\"water\"}\n")
  }

  @Test(.enabled(if: RcloneStore.program != nil, "rclone is not there"))
  func aBucketBringsChangesFromOneMachineToTheOther() async throws {
    let (desk, laptop, _) = try await pair()
    let store = try RcloneStore()
    let url = "s3://bucket/notes?endpoint=http://127.0.0.1:\(store.server.port)"
    _ = try desk.godwit("put", "todo", "--as", "1", input: Data("{\"text\":\"plants\"}".utf8))
    for machine in [desk, laptop] {
      #expect(try machine.godwit("remote", "add", "store", url, environment: keys).status == 0)
      let outcome = try machine.godwit("sync", environment: keys)
      #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome.error)")
    }
    #expect(try laptop.godwit("get", "todo", "1").text == "{\"text\":\"plants\"}\n")
    let tested = try desk.godwit("remote", "test", "store", environment: keys)
    #expect(tested.status == 0 && tested.error.contains("ignores If-None-Match"), "\(tested.error)")
    // What lies there and here shows neither secret.
    #expect(try !desk.godwit("remote", "list", "--json").text.contains("not-a-secret"))
  }
}
