import Foundation
import Godwit
import Testing

@Suite struct KeyringCommandTests {
  private let machine: Machine

  init() throws {
    machine = try Machine("keyring")
    try #require(try machine.godwit("init", "--name", "desk").status == 0)
  }

  /// A file that only this user can read.
  private func secretFile(_ name: String, _ text: String) throws {
    try machine.write(Data(text.utf8), to: name)
    chmod(machine.path(name), 0o600)
  }

  private func loseMachineKey() throws { try FileManager.default.removeItem(atPath: machine.machineKey) }

  @Test func slotsAreListedWithoutAnyKey() throws {
    try secretFile("phrase", "correct horse\n")
    #expect(try machine.godwit("keyring", "add", "passphrase:phrase", "--label", "me").status == 0)
    try loseMachineKey()
    let outcome = try machine.godwit("keyring", "list", "--json")
    let slots = try outcome.objects()
    #expect(outcome.status == 0)
    #expect(slots.map { $0["label"] as? String } == ["machine", "me"])
    #expect(slots.map { $0["factors"] as? [String] } == [["machineKey"], ["passphrase"]])
    for slot in slots { #expect(Set(slot.keys) == ["number", "label", "factors", "credential", "added"]) }
    #expect(slots[0]["added"] is NSNull && slots[1]["added"] is String)
    let table = try machine.godwit("keyring", "list")
    #expect(table.lines.count == 3 && table.lines[2].contains("passphrase"))
  }

  @Test func aPassphraseFileOpensWhereTheMachineKeyIsLost() throws {
    try secretFile("phrase", "correct horse\n")
    try secretFile("wrong", "wrong horses\n")
    try #require(try machine.godwit("keyring", "add", "passphrase:phrase").status == 0)
    try loseMachineKey()
    #expect(try machine.godwit("status", "--passphrase-file", "phrase").status == 0)
    #expect(try machine.godwit("status", "--passphrase-file", "-", input: Data("correct horse".utf8)).status == 0)
    #expect(try machine.godwit("status", environment: ["GODWIT_PASSPHRASE_FILE": "phrase"]).status == 0)
    let wrong = try machine.godwit("status", "--passphrase-file", "wrong")
    #expect(wrong.status == 12)
    #expect(wrong.error.hasPrefix("godwit: error: what is offered does not open slot passphrase; "))
    #expect(wrong.error.contains("hint: its slots take what --machine-key or --passphrase-file names"))
    #expect(!wrong.error.contains("wrong horses"))
    chmod(machine.path("phrase"), 0o644)
    let loose = try machine.godwit("status", "--passphrase-file", "phrase")
    #expect(loose.status == 1)
    #expect(loose.error.contains("chmod 600 phrase"))
  }

  @Test func aRecoveryCodeIsPrintedOnceAndOpens() throws {
    let added = try machine.godwit("keyring", "add", "recovery-code", "--label", "paper")
    let code = added.text.trimmingCharacters(in: .whitespacesAndNewlines)
    try #require(added.status == 0)
    #expect(code.split(separator: "-").map(\.count) == [4, 4, 4, 4, 4, 4, 4, 4])
    try loseMachineKey()
    #expect(try machine.godwit("status", "--recovery-code-file", "-", input: Data(code.lowercased().utf8)).status == 0)
    let other = try machine.godwit("keyring", "test", "--recovery-code-file", "-", input: Data("QQQQ".utf8))
    #expect(other.status == 12)
  }

  @Test func aCommandsOutputOpensAndNoShellReadsIt() throws {
    let key = try machine.godwit("keyring", "new-key").text
    #expect(key.hasPrefix("GODWIT-MACHINE-KEY-1"))
    try secretFile("a key; touch pwned", key)
    let command = #"["cat","a key; touch pwned"]"#
    try #require(try machine.godwit("keyring", "add", "command:\(command)").status == 0)
    try loseMachineKey()
    #expect(try machine.godwit("status", "--key-command", command).status == 0)
    #expect(try machine.godwit("status", environment: ["GODWIT_KEY_COMMAND": command]).status == 0)
    #expect(try machine.godwit("status", "--key-command", "false").status == 12)
    #expect(try machine.godwit("status", "--key-command", "[1]").status == 64)
    #expect(!FileManager.default.fileExists(atPath: machine.path("pwned")))
  }

  @Test func aCredentialOpensAService() throws {
    let made = try machine.godwit("keyring", "new-key", "--output", "key")
    #expect(made.status == 0 && made.text.isEmpty && made.error == "wrote a key to key\n", "\(made.error)")
    #expect(try machine.godwit("keyring", "new-key", "--output", "key").status == 1)
    let added = try machine.godwit("keyring", "add", "credential:godwit", "--secret-file", "key", "--json")
    #expect(try added.objects().first?["added"] as? String == "credential")
    try loseMachineKey()
    let folder = machine.path("credentials")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.moveItem(atPath: machine.path("key"), toPath: "\(folder)/godwit")
    let service = ["CREDENTIALS_DIRECTORY": folder]
    #expect(try machine.godwit("status", "--credential", "godwit", environment: service).status == 0)
    #expect(
      try machine.godwit("status", environment: service.merging(["GODWIT_CREDENTIAL": "godwit"]) { $1 }).status == 0)
    #expect(try machine.godwit("status", "--credential", "godwit").status == 12)
    #expect(try machine.godwit("status", "--credential", "other", environment: service).status == 12)
  }

  @Test func bothOfTwoAreNeeded() throws {
    try secretFile("phrase", "correct horse")
    let added = try machine.godwit("keyring", "add", "passphrase:phrase", "recovery-code", "--label", "both")
    try secretFile("code", added.text)
    try loseMachineKey()
    #expect(try machine.godwit("status", "--passphrase-file", "phrase").status == 12)
    #expect(try machine.godwit("status", "--recovery-code-file", "code").status == 12)
    #expect(
      try machine.godwit("status", "--passphrase-file", "phrase", "--recovery-code-file", "code").status == 0)
  }

  @Test func removedSlotsOpenNoLonger() throws {
    try secretFile("phrase", "correct horse")
    try #require(try machine.godwit("keyring", "add", "passphrase:phrase", "--label", "me").status == 0)
    let unseen = try machine.godwit("keyring", "remove", "machine")
    #expect(unseen.status == 12)
    #expect(unseen.error.contains("nothing was removed"))
    #expect(try machine.godwit("status").status == 0)
    #expect(try machine.godwit("keyring", "remove", "machine", "--passphrase-file", "phrase").status == 0)
    #expect(try machine.godwit("keyring", "remove", "me", "--passphrase-file", "phrase").status == 1)
    let tested = try machine.godwit("keyring", "test", "--passphrase-file", "phrase", "--json")
    #expect(try tested.objects().map { $0["result"] as? String } == ["opens"])
    #expect(try machine.godwit("status").status == 12)
    #expect(try machine.godwit("status", "--passphrase-file", "phrase").status == 0)
    #expect(try machine.godwit("keyring", "remove", "nothing", "--passphrase-file", "phrase").status == 1)
  }

  @Test func optionsAboutKeysStandBeforeTheCommandToo() throws {
    try secretFile("phrase", "correct horse")
    let key = try machine.godwit("keyring", "new-key").text
    try secretFile("key", key)
    let code = try machine.godwit("keyring", "add", "recovery-code").text
    try secretFile("code", code)
    for secret in [["passphrase:phrase"], ["command:cat key"], ["credential:godwit", "--secret-file", "key"]] {
      try #require(try machine.run(["keyring", "add"] + secret).status == 0)
    }
    try loseMachineKey()
    for option in [
      ["--passphrase-file", "phrase"], ["--passphrase-file=phrase"], ["--recovery-code-file", "code"],
      ["--key-command", "cat key"],
    ] {
      #expect(try machine.run(["-C", "."] + option + ["status"]).status == 0, "\(option)")
    }
    let service = ["CREDENTIALS_DIRECTORY": machine.folder]
    try FileManager.default.moveItem(atPath: machine.path("key"), toPath: machine.path("godwit"))
    #expect(try machine.godwit("--credential", "godwit", "keyring", "list", environment: service).status == 0)
    #expect(try machine.godwit("--credential", "godwit", "status", environment: service).status == 0)
  }

  @Test func removingIsForcedByNameOnly() throws {
    try #require(try machine.godwit("keyring", "add", "recovery-code", "--label", "paper").status == 0)
    let forced = try machine.godwit("keyring", "remove", "machine", "--force")
    #expect(forced.status == 0)
    #expect(forced.error.contains("no other slot was tried"))
    #expect(try machine.godwit("keyring", "list", "--json").objects().map { $0["label"] as? String } == ["paper"])
  }

  @Test func aSlotOfTwoPassphrasesOpensWithBothFiles() throws {
    for (name, text) in [("a", "correct horse"), ("b", "battery staple"), ("c", "tame walruses")] {
      try secretFile(name, text)
    }
    let same = try machine.godwit("keyring", "add", "passphrase:a", "passphrase:a")
    #expect(same.status == 1)
    #expect(same.error.contains("the two secrets are the same"))
    #expect(try machine.godwit("keyring", "add", "machine-key:a", "machine-key:b").status == 64)
    try #require(try machine.godwit("keyring", "add", "passphrase:a", "passphrase:b", "--label", "both").status == 0)
    #expect(
      try machine.godwit("keyring", "remove", "machine", "--passphrase-file", "a", "--passphrase-file", "c").status
        == 12)
    #expect(
      try machine.godwit("keyring", "remove", "machine", "--passphrase-file", "b", "--passphrase-file", "a").status
        == 0)
    #expect(try machine.godwit("status", "--passphrase-file", "a", "--passphrase-file", "b").status == 0)
    #expect(try machine.godwit("status", "--passphrase-file", "a").status == 12)
  }

  @Test func testingNamesWhatDoesNotOpen() throws {
    try #require(try machine.godwit("keyring", "add", "recovery-code", "--label", "paper").status == 0)
    let all = try machine.godwit("keyring", "test", "--json")
    #expect(all.status == 0)
    #expect(try all.objects().map { $0["result"] as? String } == ["opens", "notTried"])
    #expect(try machine.godwit("keyring", "test", "paper").status == 12)
    #expect(try machine.godwit("keyring", "test", "nothing").status == 1)
    #expect(try machine.godwit("keyring", "rotate", "--json").objects().first?["rotated"] as? Bool == true)
    #expect(try machine.godwit("status").status == 0)
  }

  @Test func aRecoveryCodeThatNobodySawIsNoWayIn() throws {
    let outcome = try machine.run(["keyring", "add", "recovery-code"], writingTo: "/dev/full")
    #expect(outcome.status == 1 && outcome.error.contains("cannot write the standard output"), "\(outcome.error)")
    #expect(try machine.godwit("keyring", "list", "--json").objects().count == 1)
    // Shown, and then not added.
    let again = try machine.godwit("keyring", "add", "recovery-code", "--label", "machine")
    #expect(again.status != 0 && again.error.contains("the recovery code above opens nothing"), "\(again.error)")
    #expect(try machine.godwit("keyring", "list", "--json").objects().count == 1)
  }

  @Test func whatWasNotAddedIsNotReportedAsAdded() throws {
    try secretFile("phrase", "correct horse\n")
    let refused = try machine.godwit("keyring", "add", "passphrase:phrase", "--label", "machine", "--json")
    #expect(refused.status != 0 && refused.output.isEmpty, "\(refused.text)")
    let added = try machine.godwit("keyring", "add", "passphrase:phrase", "--json")
    #expect(try added.objects().first?["added"] as? String == "passphrase")
  }

  @Test func aSlipInARecoveryCodeIsFoundAlsoWhereTheMachineKeyIsLost() throws {
    let code = try #require(try machine.godwit("keyring", "add", "recovery-code").lines.last)
    var characters = Array(code)
    characters[11] = characters[11] == "Q" ? "P" : "Q"
    try secretFile("code", String(characters))
    try loseMachineKey()
    let outcome = try machine.godwit("status", "--recovery-code-file", "code")
    #expect(outcome.status == 12 && outcome.error.contains("hint: look at group 3 again"), "\(outcome.error)")
    let tested = try machine.godwit("keyring", "test", "--recovery-code-file", "code")
    #expect(tested.text.contains("look at group 3 again"), "\(tested.text)")
  }

  @Test func aSecretsFileThatOthersCouldExchangeIsRefused() throws {
    try FileManager.default.createDirectory(atPath: machine.path("open"), withIntermediateDirectories: false)
    chmod(machine.path("open"), 0o777)
    try secretFile("open/phrase", "correct horse\n")
    let refused = try machine.godwit("keyring", "add", "passphrase:open/phrase")
    #expect(refused.status == 1 && refused.error.contains("others can write to the folder"), "\(refused.error)")
    chmod(machine.path("open"), 0o700)
    try FileManager.default.createSymbolicLink(atPath: machine.path("link"), withDestinationPath: "open/phrase")
    #expect(try machine.godwit("keyring", "add", "passphrase:link").status == 0)
  }

  @Test func keysLieInFoldersThatOthersLookInto() throws {
    let other = try Machine("folders")
    try FileManager.default.createDirectory(
      atPath: other.path("keys"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    let keys = ["--keyring", "keys/ring", "--machine-key", "keys/machine"]
    #expect(try other.run(["init", "--name", "x"] + keys).status == 0)
    #expect(try other.run(["status"] + keys).status == 0)
    chmod(other.path("keys"), 0o775)
    #expect(try other.run(["init", "more", "--keyring", "keys/other", "--machine-key", "keys/machine"]).status == 1)
  }

  @Test func anEarlierKeyringIsRefusedUntilAccepted() throws {
    let earlier = try machine.read(".godwit/keyring")
    try #require(try machine.godwit("keyring", "rotate").status == 0)
    try #require(try machine.godwit("compact").status == 0)
    try machine.write(earlier, to: ".godwit/keyring")
    let refused = try machine.godwit("status")
    #expect(refused.status == 13)
    #expect(refused.error.contains("godwit keyring accept"))
    #expect(try machine.godwit("keyring", "accept").status == 0)
    #expect(try machine.godwit("status").status == 0)
  }

  /// A key command sees what the program shows of itself to other processes while it runs.
  @Test func nothingSecretIsShownToOtherProcessesAndCoreDumpsAreOff() throws {
    let key = try machine.godwit("keyring", "new-key").text.trimmingCharacters(in: .whitespacesAndNewlines)
    try secretFile("key", key)
    try machine.write(
      Data("cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/$PPID/limits /proc/$PPID/status > shown; cat key\n".utf8),
      to: "script")
    try #require(try machine.godwit("keyring", "add", "command:cat key").status == 0)
    try loseMachineKey()
    let outcome = try machine.godwit("status", "--key-command", "sh script")
    let shown = String(decoding: try machine.read("shown"), as: UTF8.self)
    #expect(outcome.status == 0)
    #expect(shown.contains("--key-command"))
    #expect(!(shown + outcome.error + outcome.text).contains(key.suffix(20)))
    let core = try #require(shown.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    #expect(core.split(separator: " ").suffix(3).prefix(2) == ["0", "0"])
    // No handler of Swift's runtime that would print registers and memory.
    let line = try #require(shown.split(separator: "\n").first { $0.hasPrefix("SigCgt:") })
    let caught = try #require(UInt64(line.dropFirst("SigCgt:".count).trimmingCharacters(in: .whitespaces), radix: 16))
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT] { #expect(caught >> (number - 1) & 1 == 0) }
  }

  @Test func aSecretThatIsNoKindOfSecretIsRefused() throws {
    #expect(try machine.godwit("keyring", "add", "hunter2").status == 1)
    #expect(try machine.godwit("keyring", "add", "credential:../key").status == 1)
    #expect(try machine.godwit("keyring", "add").status == 64)
  }

  @Test func aSecretOnTheStandardInputServesAWholeCommand() throws {
    try secretFile("phrase", "correct horse\n")
    try #require(try machine.godwit("keyring", "add", "passphrase:phrase").status == 0)
    _ = try machine.godwit("keyring", "remove", "machine", "--passphrase-file", "phrase")
    try #require(try machine.godwit("export", "--all", "a.sync", "--passphrase-file", "phrase").status == 0)
    for command in ["keyring rotate --database", "verify a.sync a.sync", "inspect a.sync a.sync", "status"] {
      let piped = try machine.shell("printf %s 'correct horse' | \"$GODWIT\" \(command) --passphrase-file -")
      #expect(piped.status == 0, "\(command): \(piped.error)")
      let read = try machine.shell("\"$GODWIT\" \(command) --passphrase-file - < phrase")
      #expect(read.status == 0, "\(command): \(read.error)")
    }
  }

  /// As of a pipe of another user's, or a socket: what is there is taken as it was handed over.
  @Test func aSecretComesByASocketToo() throws {
    try secretFile("phrase", "correct horse\n")
    try #require(try machine.godwit("keyring", "add", "passphrase:phrase").status == 0)
    try loseMachineKey()
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let process = machine.process(["status", "--passphrase-file", "-"])
    process.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    process.standardOutput = FileHandle.nullDevice
    let text = Array("correct horse\n".utf8)
    #expect(write(ends[1], text, text.count) == text.count)
    close(ends[1])
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}
