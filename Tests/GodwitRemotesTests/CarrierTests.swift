import Foundation
import GodwitBase
import GodwitCore
import GodwitFiles
import TestServers
import Testing

@testable import GodwitRemotes

/// What every carrier does alike, on a folder and on a real S3 server.
@Suite("Carriers")
struct CarrierTests {
  enum Kind: String, CaseIterable, Sendable {
    case folder, rclone, moto

    static var here: [Kind] {
      [.folder] + (RcloneStore.program == nil ? [] : [.rclone]) + (MotoStore.program == nil ? [] : [.moto])
    }
  }

  /// A carrier with what it lives on.
  struct Place {
    let carrier: any Carrier
    let work: Workspace
    let store: RcloneStore?
    private let moto: MotoStore?

    init(_ kind: Kind) throws {
      work = try Workspace()
      moto = kind == .moto ? try MotoStore() : nil
      switch kind {
      case .folder:
        store = nil
        try FileManager.default.createDirectory(atPath: "\(work.path)/remote", withIntermediateDirectories: true)
        carrier = FolderCarrier("\(work.path)/remote")
        _ = try carrier.write("godwit-remote", from: work.file("marker", [1]), meter: TransferMeter())
      case .rclone:
        let store = try RcloneStore()
        self.store = store
        carrier = try ObjectStoreCarrier.test(port: store.server.port)
      case .moto:
        store = nil
        carrier = try ObjectStoreCarrier.test(port: moto?.server.port ?? 0)
      }
    }

    func put(_ name: String, _ bytes: [UInt8]) throws -> CarriedFile {
      try carrier.write(name, from: work.file("spool", bytes), meter: TransferMeter())
    }

    func get(_ name: String, limit: Int = 1 << 20) throws -> [UInt8]? {
      let sink = MemorySink()
      return try carrier.read(name, into: sink, limit: limit, meter: TransferMeter()).map { _ in sink.bytes }
    }
  }

  @Test("keep what they are given", arguments: Kind.here)
  func keep(kind: Kind) throws {
    let place = try Place(kind)
    #expect(try place.get("m/a") == nil)
    #expect(try place.carrier.find("m/a", meter: TransferMeter()) == nil)
    #expect(try place.carrier.list("m", meter: TransferMeter()).isEmpty)
    let first = try place.put("m/a", [1, 2, 3])
    #expect(first.size == 3)
    #expect(try place.get("m/a") == [1, 2, 3])
    #expect(try place.carrier.find("m/a", meter: TransferMeter()) == first)
    let second = try place.put("m/a", [1, 2, 4])
    #expect(second.tag != first.tag)
    _ = try place.put("m/b c", Array(repeating: 7, count: 100_000))
    _ = try place.put("s/a", [])
    let listed = try place.carrier.list("m", meter: TransferMeter()).sorted { $0.name < $1.name }
    #expect(listed.map(\.name) == ["m/a", "m/b c"] && listed.map(\.size) == [3, 100_000])
    #expect(listed.first?.tag == second.tag)
    #expect(try place.get("s/a") == [])
    try place.carrier.remove("m/a", meter: TransferMeter())
    try place.carrier.remove("m/a", meter: TransferMeter())
    #expect(try place.carrier.list("m", meter: TransferMeter()).map(\.name) == ["m/b c"])
  }

  @Test("a name that XML has no way to write hides no other", arguments: Kind.here)
  func oddNames(kind: Kind) throws {
    let place = try Place(kind)
    // A folder's names with control characters are none of ours; a store's come from whoever has its keys.
    let names = ["m/a", "m/b+c%41", "m/ü"] + (kind == .moto ? ["m/\u{1}"] : [])
    for name in names { _ = try place.put(name, [1]) }
    #expect(try Set(place.carrier.list("m", meter: TransferMeter()).map(\.name)) == Set(names))
  }

  @Test(
    "what lies in a shared folder is shared, too, whatever the umask", arguments: [0o2770, 0o1777, 0o700] as [mode_t])
  func shared(mode: mode_t) throws {
    let work = try Workspace()
    let root = "\(work.path)/root"
    try #require(mkdir(root, 0o700) == 0 && chmod(root, mode) == 0)
    for name in ["godwit-remote", "m/a"] {
      _ = try FolderCarrier(root).write(name, from: work.file("spool", [1]), meter: TransferMeter())
    }
    var status = stat()
    try #require(stat("\(root)/m", &status) == 0)
    #expect(status.st_mode & 0o7777 == mode)
    try #require(stat("\(root)/m/a", &status) == 0)
    #expect(status.st_mode & 0o7777 == mode & 0o666)
  }

  @Test("list what this user may not read, and do not read it", .enabled(if: getuid() == 0, "this is not root"))
  func unreadable() throws {
    let place = try Place(.folder)
    _ = try place.put("m/a", [1, 2])
    let root = open("\(place.work.path)/remote", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(root) }
    for (name, mode) in [("", 0o755), ("/m", 0o755), ("/m/a", 0o600)] as [(String, mode_t)] {
      try #require(chmod("\(place.work.path)/remote\(name)", mode) == 0)
    }
    // What this thread does with files it does as another user: setfsuid(2).
    let change = try #require(
      dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: (@convention(c) (UInt32) -> Int32).self) })
    _ = change(65_534)
    defer { _ = change(0) }
    let carrier = FolderCarrier("/proc/self/fd/\(root)")
    let listed = try carrier.list("m", meter: TransferMeter())
    #expect(listed.map(\.name) == ["m/a"] && listed.map(\.isReadable) == [false])
    let error = #expect(throws: GodwitError.self) {
      try carrier.read("m/a", into: MemorySink(), limit: 100, meter: TransferMeter())
    }
    #expect(error?.code == .refused)
  }

  /// The first byte of a process's memory is none that anybody could read.
  @Test("list what a disk does not give")
  func unreadableBlock() throws {
    let carrier = FolderCarrier("/proc")
    let listed = try carrier.list("\(getpid())", meter: TransferMeter())
    #expect(listed.first { $0.name.hasSuffix("/mem") }?.isReadable == false)
    #expect(listed.first { $0.name.hasSuffix("/status") }?.isReadable == true)
    // Later in the file it is that file's fault alone, too.
    let error = #expect(throws: GodwitError.self) {
      try RemoteFile(FileDescriptor.openPlainForReading("/proc/\(getpid())/mem")).readExactly(1)
    }
    #expect(error?.code == .truncatedFile)
  }

  @Test("of a folder that is empty of a sudden write nothing into it")
  func emptied() throws {
    let place = try Place(.folder)
    _ = try place.put("m/a", [1])
    let root = "\(place.work.path)/remote"
    try FileManager.default.moveItem(atPath: root, toPath: "\(root).gone")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    let error = #expect(throws: GodwitError.self) { try place.put("m/a", [2]) }
    #expect(error?.code == .unreachable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: root).isEmpty)
  }

  @Test("give nothing beyond the limit", arguments: Kind.here)
  func limit(kind: Kind) throws {
    let place = try Place(kind)
    _ = try place.put("m/a", Array(repeating: 7, count: 1_000))
    #expect(try place.get("m/a", limit: 1_000)?.count == 1_000)
    let error = #expect(throws: GodwitError.self) { try place.get("m/a", limit: 999) }
    #expect(error?.code == .limitExceeded)
  }

  @Test("end when they are cancelled", arguments: Kind.here)
  func cancelled(kind: Kind) throws {
    let place = try Place(kind)
    _ = try place.put("m/a", Array(repeating: 7, count: 1_000))
    let meter = TransferMeter()
    meter.cancel()
    #expect(throws: CancellationError.self) {
      try place.carrier.read("m/a", into: MemorySink(), limit: 1_000, meter: meter)
    }
    #expect(throws: CancellationError.self) {
      try place.carrier.write("m/b", from: place.work.file("x", [1]), meter: meter)
    }
    #expect(try place.carrier.find("m/b", meter: TransferMeter()) == nil)
  }

  @Test("show whether they honour conditions", arguments: Kind.here)
  func conditions(kind: Kind) throws {
    let place = try Place(kind)
    _ = try place.put("m/a", [1])
    let answer = try place.carrier.honoursConditions("m/a", from: place.work.file("x", [2]))
    #expect(answer == [.folder: nil, .rclone: false, .moto: true][kind])
  }

  @Test("list more than a page", arguments: Kind.here)
  func pages(kind: Kind) throws {
    let place = try Place(kind)
    guard kind != .moto else {
      for number in 0..<1_003 { _ = try place.put("m/\(number)", [1]) }
      return #expect(Set(try place.carrier.list("m", meter: TransferMeter()).map(\.name)).count == 1_003)
    }
    let folder = place.store.map { "\($0.folder.path)/bucket/prefix/m" } ?? "\(place.work.path)/remote/m"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for number in 0..<1_203 { try Data("\(number)".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(number)")) }
    #expect(Set(try place.carrier.list("m", meter: TransferMeter()).map(\.name)).count == 1_203)
  }

  @Test("of a folder follow no link and wait for no pipe")
  func odd() throws {
    let place = try Place(.folder)
    let folder = "\(place.work.path)/remote/m"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/a", withDestinationPath: "/etc/passwd")
    mkfifo("\(folder)/b", 0o600)
    try FileManager.default.createDirectory(atPath: "\(folder)/c", withIntermediateDirectories: false)
    #expect(try place.carrier.list("m", meter: TransferMeter()).isEmpty)
    #expect(try place.get("m/a") == nil && place.get("m/b") == nil && place.get("m/c") == nil)
    try FileManager.default.createSymbolicLink(atPath: "\(place.work.path)/remote/s", withDestinationPath: "/tmp")
    let error = #expect(throws: GodwitError.self) { try place.put("s/a", [1]) }
    #expect(error?.code == .unsafeFile)
  }

  @Test("of a folder that is not there cannot be reached")
  func gone() throws {
    let carrier = FolderCarrier("/nonexistent/stick")
    let error = #expect(throws: GodwitError.self) { try carrier.list("m", meter: TransferMeter()) }
    #expect(error?.code == .unreachable && error?.hint?.contains("mkdir") == true)
  }

  @Test(
    "of a folder say what waiting mends, and what somebody has to allow",
    arguments: [
      (EACCES, GodwitError.Code.refused), (EPERM, .refused), (ESTALE, .unreachable), (ENOTCONN, .unreachable),
    ])
  func meanings(number: Int32, code: GodwitError.Code) {
    let error = FolderCarrier.meaning(of: .file("read", "/srv/x", number))
    #expect(error.code == code && error.hint?.isEmpty == false && error.message.contains("/srv/x"))
    #expect(FolderCarrier.meaning(of: .file("read", "/srv/x", EIO)).code == .fileAccess)
  }

  @Test("leave nothing half written in a folder, and remove what is left of a day ago")
  func leftovers() throws {
    let place = try Place(.folder)
    let origin = Origin(replica: ReplicaID(Identifier128(high: 1, low: 2)), incarnation: 3)
    let names = [RemoteName.base(origin, hash: "0123456789abcdef"), .base(origin, hash: "1123456789abcdef")].map {
      String("\($0)".dropFirst(2))
    }
    _ = try place.put("b/\(names[0])", [1])
    let folder = "\(place.work.path)/remote/b"
    let stays = [".\(names[0]).1123456789abcdef.tmp", ".notes.0123456789abcdef.tmp", ".\(names[1]).0123.tmp"]
    // Nobody writes a base of that name again.
    let goes = names.map { ".\($0).0123456789abcdef.tmp" }
    // Ages are by the clock of the folder, which may be another than this machine's.
    for (name, age) in goes.map({ ($0, 90_000) }) + Array(zip(stays, [60, 90_000, 90_000])) {
      let date = Date().addingTimeInterval(TimeInterval(-age))
      _ = FileManager.default.createFile(
        atPath: "\(folder)/\(name)", contents: nil, attributes: [.modificationDate: date])
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: "\(folder)/\(name)")
    }
    _ = try place.put("b/\(names[0])", [2])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == (stays + [names[0]]).sorted())
  }
}

extension ObjectStoreCarrier {
  static func test(
    port: Int, bucket: String = "bucket", environment: [String: String] = RcloneStore.environment, region: String = "",
    total: Duration = .milliseconds(500), silence: Int = 30
  ) throws -> ObjectStoreCarrier {
    let region = region.isEmpty ? "" : "&region=\(region)"
    guard
      case .bucket(let address) = try RemoteURL("s3://\(bucket)/prefix?endpoint=http://127.0.0.1:\(port)\(region)")
    else { throw CocoaError(.fileReadUnknown) }
    return try ObjectStoreCarrier(
      address, patience: StorePatience(total: total, first: .milliseconds(10), silence: silence),
      environment: environment)
  }
}
