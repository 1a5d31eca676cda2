import Foundation
import GodwitBase
import GodwitStorage
import TestFolders
import Testing

@testable import GodwitCrypto
@testable import GodwitKeys

/// The program under strace, through a replica's life: threat 19 in Specs/threat-model.md, which lists the files.
@Suite("Under strace", .seesSystemCalls)
struct TracingTests {
  private static let marker = Array(MarkerScan.marker.utf8)
  private static let passphrase = "correct horse battery 5f1d"
  /// Opened for writing, made or renamed to, in the machine's folder.
  private static let allowed = [
    #"\.godwit"#, #"\.godwit/database(\.new|\.old)?(-wal|-shm|-journal)?"#,
    #"\.godwit/(lock|database-gate|rekey\.lock|trial)"#,
    #"\.godwit/keyring(\.anchor)?(\.\w+\.tmp|\.lock)?"#, #"config"#, #"config/godwit"#,
    #"config/godwit/machine\.key(\.\w+\.tmp|\.lock)?"#,
    #"[\w-]+\.(godwit-invitation|godwit-sync)(\.\d{3})?(\.\w+\.tmp|\.new)?"#,
    #"[\w-]+\.godwit-backup(\.\w+\.tmp(-wal|-shm|-journal)?)?"#, #"\w{8}-[\w-]+\.(out|err)"#,
    #"plaintext/leaving\.db(\.\w+\.tmp)?"#, #"plaintext/age-identity\.txt(\.\w+\.tmp)?"#,
    #"plaintext/#\d+ \(deleted\)"#,
  ]

  private static let migrations = """
    {"format": "godwit migrations 1", "migrations": [{"version": 1, "name": "shelves", "steps": [
      {"step": "createTable", "table": "shelf", "definitions": [
        {"name": "id", "type": "integer"}, {"name": "label", "type": "text", "optional": true}]}]}]}
    """

  private let desk: Machine
  private let laptop: Machine
  /// Get another program's database each, without encryption and SQLCipher's.
  private let shop: Machine
  private let vault: Machine
  private let vaultKey = SecretBytes(random: 32)

  init() throws {
    desk = try Machine("desk")
    laptop = try Machine("laptop")
    shop = try Machine("shop")
    vault = try Machine("vault")
    for machine in [desk, laptop, shop, vault] {
      try FileManager.default.createDirectory(
        atPath: machine.path(MarkerScan.allowedFolder), withIntermediateDirectories: false)
    }
    try makeVault()
    let names = [String(decoding: Self.marker, as: UTF8.self)] + (0..<200).map { _ in UUID().uuidString }
    let documents = names.map { #"{"name": "\#($0)", "price": 3}"# }.joined(separator: "\n")
    try desk.write(Data(documents.utf8), to: "plaintext/documents.json")
    try desk.write(Data(Self.migrations.utf8), to: "migrations.json")
    try desk.write(Data(Self.passphrase.utf8), to: "phrase")
    chmod(desk.path("phrase"), 0o600)
  }

  /// A database of SQLCipher's with its key as the secret.
  private func makeVault() throws {
    try DatabaseFile.create(vault.path("safe/vault.db"))
    let connection = try Connection(path: vault.path("safe/vault.db"), key: vaultKey, mode: .copy, isTemporary: true)
    try connection.execute("CREATE TABLE safe (id INTEGER PRIMARY KEY, content TEXT)")
    try connection.run("INSERT INTO safe (content) VALUES (?)", [.text(MarkerScan.marker)])
    let digits = vaultKey.withUnsafeBytes { Hexadecimal.encode(Array($0)) }
    try vault.write(Data("x'\(digits)'".utf8), to: "vault.pass")
    chmod(vault.path("vault.pass"), 0o600)
  }

  /// The commands of two machines that become a group and exchange a document, each with what strace saw.
  /// Also the secrets before the database's key is changed, and after.
  private func commands() throws -> (seen: [(command: String, machine: Machine, calls: SystemCalls)], secrets: Secrets)
  {
    var seen: [(command: String, machine: Machine, calls: SystemCalls)] = []
    @discardableResult
    func run(_ machine: Machine, _ arguments: String..., failing: Bool = false) throws -> Outcome {
      let log = machine.path("plaintext/strace.log")
      let outcome = try machine.run(traced: arguments, log: log)
      try #require((outcome.status != 0) == failing, "\(arguments): \(outcome.error)")
      seen.append((arguments.joined(separator: " "), machine, try SystemCalls(log: log)))
      return outcome
    }
    try run(desk, "init", "--name", "desk")
    let identity = try run(laptop, "identity").text.split(separator: "\n").first.map(String.init) ?? ""
    try run(desk, "member", "add", identity, "--name", "laptop", "--trust-first-use")
    try run(laptop, "join", desk.path("laptop.godwit-invitation"), "--trust-first-use")
    try run(desk, "keyring", "add", "passphrase:phrase", "--label", "me")
    try run(desk, "put", "notes", "plaintext/documents.json", "--key", "name")
    try run(desk, "export", "all.godwit-sync")
    try run(laptop, "import", desk.path("all.godwit-sync"))
    try run(laptop, "query", "--collection", "notes")
    try run(laptop, "inspect", desk.path("all.godwit-sync"))
    try run(laptop, "verify", desk.path("all.godwit-sync"))
    try run(desk, "export", "parts.godwit-sync", "--all", "--max-size", "16K")
    try run(laptop, "import", desk.path("parts.godwit-sync"))
    try run(desk, "export", "--state", "state.godwit-sync")
    let whole = try desk.read("state.godwit-sync")
    try laptop.write(whole.prefix(whole.count - 9), to: "cut.godwit-sync")
    try run(laptop, "import", "cut.godwit-sync", failing: true)
    try run(laptop, "import", "nowhere.godwit-sync", failing: true)
    try run(laptop, "query", "SELECT nonsense", failing: true)
    try run(laptop, "status")
    try run(laptop, "compact")
    try run(laptop, "verify")
    try run(laptop, "export", "back.godwit-sync")
    try run(desk, "import", laptop.path("back.godwit-sync"))
    try run(desk, "member", "rename", "laptop", "tower")
    try run(desk, "member", "list")
    try run(desk, "backup", "desk.godwit-backup")
    try run(desk, "restore", "desk.godwit-backup")
    try run(desk, "keyring", "add", "recovery-code", "--label", "paper")
    try run(desk, "keyring", "list")
    try run(desk, "keyring", "test")
    try run(desk, "keyring", "new-key")
    try run(desk, "keyring", "accept")
    try run(desk, "keyring", "remove", "me")
    try run(desk, "migrate", "migrations.json")
    var secrets = try Secrets(of: [desk, laptop], passphrase: Self.passphrase)
    try run(desk, "rekey")
    try run(desk, "keyring", "rotate")
    try run(desk, "identity", "export-age-key", "plaintext/age-identity.txt")
    try run(desk, "identity", "rotate")
    try run(desk, "member", "remove", "tower")
    try run(desk, "export", "--plaintext", "plaintext/leaving.db")
    try run(shop, "init", "--from", desk.path("plaintext/leaving.db"))
    try run(shop, "init", "again", "--from", desk.path("plaintext/nowhere.db"), failing: true)
    try run(vault, "init", "--from", "safe/vault.db", "--from-secret-file", "vault.pass")
    secrets.add(try Secrets(of: [desk, shop, vault], passphrase: Self.passphrase))
    secrets.add("vault's key", vaultKey.withUnsafeBytes(Array.init))
    return (seen, secrets)
  }

  @Test("shows no secret and no content, writes to no file outside its own, and cannot be dumped")
  func life() throws {
    let (seen, secrets) = try commands()
    #expect(secrets.all.count >= 40)
    for (command, machine, calls) in seen {
      #expect(calls.calls.contains { $0.name == "execve" }, "\(command): nothing was seen")
      let onlyReads = ["inspect", "verify /", "keyring list", "keyring test", "keyring new-key", "init again"].contains
      { command.hasPrefix($0) }
      #expect(onlyReads == calls.writtenPaths.isEmpty, "\(command) writes to \(calls.writtenPaths)")
      for (name, secret) in secrets.all {
        // The machine key's file holds its text, what is exported on purpose its keys, and nothing else does.
        let found = calls.sightings(of: secret).filter { sighting in
          !(name.hasPrefix("machine key") && sighting.contains("/machine.key"))
            && !(command.hasPrefix("identity export-age-key") && sighting.contains("/age-identity.txt"))
        }
        #expect(found.isEmpty, "\(command) shows the \(name): \(found)")
      }
      // What is asked for goes to the output, or to a file that has no name until it is whole.
      let isAsked = command.hasPrefix("query --collection") || command.hasPrefix("export --plaintext")
      let content = calls.sightings(of: Self.marker)
      // The process that reads another program's database hands its rows to the one that started it.
      let isRead = command.hasPrefix("init --from")
      let astray = content.filter {
        !(isAsked && ($0.hasSuffix(".out") || $0.hasSuffix(" (deleted)")))
          && !(isRead && $0.hasPrefix("sendto socket:"))
      }
      #expect(astray.isEmpty, "\(command) shows content: \(astray)")
      #expect((isAsked || isRead) == !content.isEmpty, "\(command)")
      let others = calls.writtenPaths.filter { !Self.isAllowed($0, machine) }
      #expect(others.isEmpty, "\(command) writes elsewhere: \(others)")
      #expect(Self.isProtected(calls), "\(command) can be dumped, or reads a key before it cannot")
    }
  }

  @Test("what such a run looks for is found where it is")
  func planted() throws {
    let log = desk.path("plaintext/strace.log")
    let text = String(decoding: Self.marker, as: UTF8.self)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: SystemCalls.program)
    process.arguments = SystemCalls.arguments(
      log: log, ["/bin/sh", "-c", "echo $MARKER > '\(desk.path("plaintext/planted"))'"])
    process.environment = ["MARKER": text]
    try process.run()
    process.waitUntilExit()
    let calls = try SystemCalls(log: log)
    #expect(calls.sightings(of: Self.marker) == ["execve ", "write \(desk.path("plaintext/planted"))"])
    #expect(calls.writtenPaths.contains(desk.path("plaintext/planted")))
    #expect(!Self.isAllowed(desk.path("plaintext/planted"), desk) && !Self.isAllowed("/tmp/planted", desk))
    #expect(!Self.isProtected(calls))
  }

  private static func isAllowed(_ path: String, _ machine: Machine) -> Bool {
    if ["/dev/null", machine.folder].contains(path) { return true }
    let relative = path.hasPrefix("\(machine.folder)/") ? String(path.dropFirst(machine.folder.utf8.count + 1)) : path
    return allowed.contains { relative.range(of: "^(?:\($0))$", options: .regularExpression) != nil }
  }

  /// Before any file of the machine is opened.
  private static func isProtected(_ calls: SystemCalls) -> Bool {
    let firstKey = calls.calls.firstIndex {
      $0.name == "openat" && $0.descriptorPath.map { $0.hasSuffix(".key") || $0.hasSuffix("keyring") } == true
    }
    let before = calls.calls[..<(firstKey ?? calls.calls.endIndex)]
    return before.contains {
      $0.name == "prctl" && $0.text.hasPrefix("(PR_SET_DUMPABLE, SUID_DUMP_DISABLE") && !$0.hasFailed
    }
      && before.contains { $0.text.contains("RLIMIT_CORE, {rlim_cur=0, rlim_max=0}") && !$0.hasFailed }
  }
}

/// Every form in which a machine's secrets might be seen.
private struct Secrets {
  private(set) var all: [(name: String, bytes: [UInt8])] = []

  init(of machines: [Machine], passphrase: String) throws {
    add("passphrase", text: passphrase)
    for machine in machines {
      let text = String(decoding: try machine.read("config/godwit/machine.key"), as: UTF8.self).trimmingCharacters(
        in: .newlines)
      add("machine key's text", text: text)
      add("machine key", try Bech32.decode(Array(text.utf8), what: "it").data)
      let contents = try Keyring.open(
        at: KeyringLocation(keyring: "\(machine.replica)/keyring", machineKey: machine.machineKey))
      add("database key", contents.databaseKey.withUnsafeBytes(Array.init))
      add("age identity", contents.identity.ageIdentity.secret.withUnsafeBytes(Array.init))
      add("age identity's text", text: contents.identity.ageIdentity.exportSecretText())
      var writer = ByteWriter()
      contents.identity.encode(to: &writer)
      add("signing seed", Array(writer.bytes[17..<49]))
    }
  }

  mutating func add(_ others: Secrets) { all += others.all }

  private mutating func add(_ name: String, text: String) { all.append((name, Array(text.utf8))) }

  /// As bytes and as hexadecimal digits, which is how SQL takes a key.
  mutating func add(_ name: String, _ bytes: [UInt8]) {
    let digits = Hexadecimal.encode(bytes)
    all += [
      (name, bytes), ("\(name)'s digits", Array(digits.utf8)), ("\(name)'s digits", Array(digits.uppercased().utf8)),
    ]
  }
}
