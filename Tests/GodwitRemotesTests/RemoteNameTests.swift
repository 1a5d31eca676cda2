import Foundation
import GodwitBase
import GodwitCore
import GodwitFiles
import Testing

@testable import GodwitRemotes

@Suite("Names and URLs of remotes")
struct RemoteNameTests {
  private static let origin = Origin(
    replica: ReplicaID(Identifier128(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)), incarnation: 0x2a)
  private static let text = "0123456789abcdeffedcba9876543210-0000002a"

  @Test(
    "have one form each",
    arguments: [
      RemoteName.marker, .mailbox(origin), .state(origin, sealedTo: "0123456789abcdef"), .logMark(origin),
      .log(origin, 1), .log(origin, .max), .epoch(origin, key: "0123456789abcdef"), .request(origin.replica),
      .invitation(origin.replica),
    ])
  func forms(name: RemoteName) { #expect(RemoteName(name.description) == name) }

  @Test("are as the specification has them")
  func written() {
    #expect("\(RemoteName.mailbox(Self.origin))" == "m/\(Self.text)")
    let state = RemoteName.state(Self.origin, sealedTo: "0123456789abcdef")
    #expect("\(state)" == "s/\(Self.text)-0123456789abcdef")
    let epoch = RemoteName.epoch(Self.origin, key: "0123456789abcdef")
    #expect("\(epoch)" == "e/\(Self.text)-0123456789abcdef")
    #expect("\(RemoteName.log(Self.origin, 17))" == "l/\(Self.text)-17")
    #expect("\(RemoteName.logMark(Self.origin))" == "m/\(Self.text).log")
    #expect("\(RemoteName.request(Self.origin.replica))" == "r/\(Self.text.prefix(32))")
    #expect("\(RemoteName.invitation(Self.origin.replica))" == "i/\(Self.text.prefix(32))")
  }

  @Test(
    "pass over what others put there",
    arguments: [
      "m/\(text).sync-conflict-20260131-093000-ABCDEFG", "m/\(text) (Ada's conflicted copy)",
      "m/.\(text).0123456789abcdef.tmp",
      "m/\(text.uppercased())", "m/\(text)/", "m/\(text.dropLast())", "m/\(text)0", "m/.nfs0001", "x/\(text)",
      "m//\(text)",
      "s/\(text)", "s/\(text)-", "s/\(text)-0123456789abcde", "s/\(text)-0123456789ABCDEF", "s/-0123456789abcdef",
      "e/\(text)", "e/\(text)-0123456789abcde", "e/\(text)-0123456789ABCDEF",
      "l/\(text)-0", "l/\(text)-01", "l/\(text)-+1", "l/\(text)-4294967296", "l/\(text)-", "l/\(text)", "m/\(text).LOG",
      "m/.log", "r/\(text)", "r/", "i/\(text.prefix(31))",
      text, "", "m/", "godwit-remote ", "m/+123456789abcdeffedcba9876543210-0000002a",
      "m/0123456789abcdeffedcba9876543210-+000002a",
    ])
  func others(name: String) { #expect(RemoteName(name) == nil) }

  @Test("of a bucket name endpoint and region")
  func bucket() throws {
    guard
      case .bucket(let address) = try RemoteURL("s3://ada/godwit/notes/?endpoint=http://127.0.0.1:9000/&region=eu-1")
    else { return #expect(Bool(false)) }
    #expect(address.bucket == "ada" && address.prefix == "godwit/notes" && address.region == "eu-1")
    #expect(address.endpoint == "http://127.0.0.1:9000")
    #expect(try RemoteURL(RemoteURL.bucket(address).text) == .bucket(address))
  }

  @Test("of a bucket name certificates of the home folder as a shell does")
  func certificates() throws {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    guard case .bucket(let address) = try RemoteURL("s3://bucket/?ca=~/ca.pem") else {
      Issue.record("no bucket")
      return
    }
    #expect(address.certificates == "\(home)/ca.pem")
  }

  @Test("of a folder are absolute")
  func folder() throws {
    #expect(try RemoteURL("file:///media/stick/a%20b") == .folder("/media/stick/a b"))
    #expect(try RemoteURL("/media/stick") == .folder("/media/stick"))
    guard case .folder(let path) = try RemoteURL("stick") else { return #expect(Bool(false)) }
    #expect(path.hasPrefix("/") && path.hasSuffix("/stick"))
    // However they are written.
    for text in ["/media/stick/", "/media/stick//", "file:///media/stick/"] {
      #expect(try RemoteURL(text) == .folder("/media/stick"))
    }
    #expect(try RemoteURL("/") == .folder("/"))
    #expect(try RemoteURL("/usr/bin/../lib/") == .folder("/usr/lib"))
  }

  @Test("of a socket are absolute, and are read as they are written")
  func socket() throws {
    let url = try RemoteURL("unix:///run/a%20b%25/godwit.sock")
    #expect(try url == .socket(SocketPath("/run/a b%/godwit.sock")))
    #expect(url.text == "unix:///run/a%20b%25/godwit.sock")
    #expect(try RemoteURL("UNIX:///run/x") == RemoteURL("unix:///run/x"))
  }

  @Test("of a host with an IPv6 address name it to ssh without brackets")
  func brackets() throws {
    guard case .host(let address) = try RemoteURL("ssh://ada@[::1]:2222/x") else { return #expect(Bool(false)) }
    #expect(address.arguments(isInteractive: true).suffix(2).first == "ada@::1")
    #expect(address.command == "ssh -p 2222 ada@::1")
    #expect(address.text == "ssh://ada@[::1]:2222/x")
  }

  @Test(
    "hold no secret, and no error repeats one",
    arguments: [
      "s3://AKIA:hunter2@bucket/x", "s3://bucket/x?secret=hunter2", "s3://bucket/?endpoint=https://u:hunter2@host",
      "s3://bucket/?endpoint=https://host/?token=hunter2", "s3://bucket/x#hunter2", "s3://bucket:hunter2/x",
      "s3://bucket/?region=a&region=hunter2", "https://hunter2@host/x", "ssh://u:hunter2@host/x",
      "s3://AKIAX:ab/hunter2@bucket/x", "s3://hunter2:/x@bucket", "ada:hunter2@nas:/srv/x", "AKIA:hunter2@bucket",
      "ssh://u:12/hunter2@host/x",
    ])
  func secrets(url: String) {
    let error = #expect(throws: GodwitError.self) { try RemoteURL(url) }
    #expect(error?.code == .invalidArgument && error?.hint?.isEmpty == false)
    #expect(error.map { !"\($0)".contains("hunter2") } == true)
  }

  @Test(
    "are refused where a store would take another place",
    arguments: [
      "s3://B/x", "s3://ab/", "s3://bucket/../x", "s3://bucket/a%00b", "s3:///x", "file://host/x", "file://", "",
      "unix://host/x", "unix://", "unix:///a%00b", "s3:/bucket/x", "file:/srv/x", "unix:/run/x",
      "unix:///\(String(repeating: "x", count: 107))",
    ])
  func bad(url: String) {
    let error = #expect(throws: GodwitError.self) { try RemoteURL(url) }
    #expect(error?.code == .invalidArgument && error?.hint?.isEmpty == false)
  }

  @Test(
    "as scp has them are refused with the URL that is meant",
    arguments: [
      ("ada@nas:/srv/x", "ssh://ada@nas/srv/x"), ("ada@nas:x", "ssh://ada@nas/~/x"), ("nas:/x", "ssh://nas/x"),
    ])
  func copies(text: String, url: String) throws {
    let error = #expect(throws: GodwitError.self) { try RemoteURL(text) }
    #expect(error?.code == .invalidArgument && error?.hint?.contains(url) == true)
    guard case .folder = try RemoteURL("./\(text)"), case .host = try RemoteURL(url) else {
      Issue.record("\(text)")
      return
    }
  }

  @Test(
    "of a host ask for a path that can be read back, and no other command can",
    arguments: ["/x", "/a b'c\\", "~/ä", "~/\u{301}x'"])
  func asked(path: String) throws {
    guard case .host(let address) = try RemoteURL("ssh://nas/\(path.replacingOccurrences(of: " ", with: "%20"))") else {
      Issue.record("no host")
      return
    }
    let command = try #require(address.arguments(isInteractive: false).last)
    let home = "\(ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory())/"
    #expect(
      SSHAddress.path(askedForBy: command) == (path.hasPrefix("~/") ? home + path.dropFirst(2) : address.path))
    for other in [
      command + ";id", "x" + command, command + " ", "godwit serve --stdio /x", "godwit serve --stdio ''x'",
    ] {
      #expect(SSHAddress.path(askedForBy: other) == nil, "\(other)")
    }
  }

  @Test(
    "of a bucket are one where they lead to the same objects",
    arguments: [
      ("s3://ab1/p?endpoint=https://store.example", true), ("s3://ab1/p/?endpoint=https://STORE.example:443", true),
      ("s3://ab1/p?endpoint=https://store.example&region=x&ca=/a.pem", true),
      ("s3://ab1/p?endpoint=https://store.example:8443", false), ("s3://ab1/q?endpoint=https://store.example", false),
      ("s3://ab2/p?endpoint=https://store.example", false), ("s3://ab1/p", false), ("/ab1/p", false),
    ])
  func sameBucket(other: String, isSame: Bool) throws {
    #expect(try RemoteURL("s3://ab1/p?endpoint=https://store.example").isSame(as: other) == isSame)
    #expect(try RemoteURL("s3://ab1/p?region=eu-west-1").isSame(as: "s3://ab1/p"))
  }

  @Test("of a host call ssh so that it notices a lost one, and asks nobody where nobody is there")
  func arguments() throws {
    guard case .host(let address) = try RemoteURL("ssh://nas/x") else {
      Issue.record("no host")
      return
    }
    let alive = ["-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=2"]
    let command = ["--", "nas", "godwit serve --stdio '/x'"]
    #expect(address.arguments(isInteractive: true) == alive + command)
    #expect(address.arguments(isInteractive: false) == alive + ["-o", "BatchMode=yes"] + command)
  }
}
