import Foundation
import Testing

/// Gives a program a terminal (util-linux).
private enum Script {
  static let path = "/usr/bin/script"
  static var isThere: Bool { FileManager.default.isExecutableFile(atPath: path) }
}

@Suite(.enabled(if: Script.isThere, "script(1) is not installed"))
struct PromptTests {
  private let machine: Machine

  init() throws {
    machine = try Machine("prompt")
    try #require(try machine.godwit("init", "--name", "desk").status == 0)
  }

  /// Runs the program on a terminal and answers each prompt once it is shown.
  private func run(_ command: String, answering answers: [(prompt: String, answer: String)]) throws -> Outcome {
    let process = machine.process(["-qec", "\(Program.path) \(command)", "/dev/null"])
    process.executableURL = URL(fileURLWithPath: Script.path)
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var shown = Data()
    var searched = 0
    for (prompt, answer) in answers {
      while shown.dropFirst(searched).range(of: Data(prompt.utf8)) == nil {
        let more = output.fileHandleForReading.availableData
        guard !more.isEmpty else { break }
        shown += more
      }
      searched = shown.count
      try input.fileHandleForWriting.write(contentsOf: Data(answer.utf8))
    }
    shown += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, output: Array(shown), error: "")
  }

  private func addPassphrase(_ first: String, _ second: String) throws -> Outcome {
    try run("keyring add passphrase", answering: [("New passphrase: ", first), ("Once more: ", second)])
  }

  @Test func aPassphraseIsAskedForTwiceWhenAddedAndOnceToOpenAndNeverShown() throws {
    let added = try addPassphrase("correct hoxx\u{7F}\u{7F}rse\n", "correct horse\n")
    try #require(added.status == 0, "\(added.text)")
    try FileManager.default.removeItem(atPath: machine.machineKey)
    let opened = try run("status", answering: [("Passphrase: ", "correct horse\n")])
    #expect(opened.status == 0)
    #expect(opened.text.contains("desk"))
    let wrong = try run("status", answering: [("Passphrase: ", "wrong horses\n")])
    #expect(wrong.status == 12)
    for outcome in [added, opened, wrong] { #expect(!outcome.text.contains("horse")) }
    try machine.write(Data("correct horse".utf8), to: "phrase")
    chmod(machine.path("phrase"), 0o600)
    #expect(try machine.godwit("status", "--passphrase-file", "phrase").status == 0)
  }

  @Test func twoPassphrasesOfOneSlotAreAskedForOneAfterTheOther() throws {
    let added = try run(
      "keyring add passphrase passphrase --label both",
      answering: [
        ("New passphrase: ", "correct horse\n"), ("Once more: ", "correct horse\n"),
        ("New passphrase: ", "battery staple\n"), ("Once more: ", "battery staple\n"),
      ])
    try #require(added.status == 0, "\(added.text)")
    let answers = [("Passphrase: ", "battery staple\n"), ("Second passphrase: ", "correct horse\n")]
    #expect(try run("keyring remove machine", answering: answers).status == 0)
    #expect(try run("status", answering: answers).status == 0)
  }

  @Test func twoPassphrasesThatDifferAddNothing() throws {
    #expect(try addPassphrase("correct horse\n", "correct house\n").status == 1)
    #expect(try machine.godwit("keyring", "list", "--json").lines.count == 1)
  }

  @Test func aLongPassphraseIsTakenWholeOrNotAtAll() throws {
    let long = String(repeating: "correct horse ", count: 200)
    #expect(try addPassphrase("\(long)\n", "\(long)\n").status == 0)
    try machine.write(Data(long.utf8), to: "phrase")
    chmod(machine.path("phrase"), 0o600)
    try FileManager.default.removeItem(atPath: machine.machineKey)
    #expect(try machine.godwit("status", "--passphrase-file", "phrase").status == 0)
    let longer = String(repeating: "x", count: 4_097)
    let refused = try run("status", answering: [("Passphrase: ", "\(longer)\n")])
    #expect(refused.status != 0 && refused.text.contains("more than 4096 bytes"), "\(refused.text)")
  }

  @Test func controlCEndsAPromptAsItEndsTheProgram() throws {
    #expect(try run("keyring add passphrase", answering: [("New passphrase: ", "abc\u{3}")]).status == 130)
    #expect(try machine.godwit("keyring", "list", "--json").lines.count == 1)
  }

  @Test func fingerprintsAreComparedAtTheTerminal() throws {
    let laptop = try Machine("laptop")
    try laptop.write(Data(try laptop.godwit("identity").output), to: "identity")
    let add = "member add \(laptop.path("identity")) --name laptop"
    func answer(_ text: String) throws -> Outcome { try run(add, answering: [("or what they say: ", text)]) }
    let words = try #require(try laptop.godwit("identity", "--json").objects().first?["words"] as? String)
    for text in ["no\n", "yeah\n", "0000-0000-0000-0000-0000\n"] {
      let outcome = try answer(text)
      #expect(outcome.status == 13)
      #expect(outcome.text.contains(words))
    }
    #expect(try answer("\u{3}").status == 130)
    #expect(try machine.godwit("member", "list", "--json").lines.count == 1)
    #expect(try answer("yex\u{7F}s\n").status == 0)
    #expect(try answer("\(words)\n").status == 0)
    #expect(try machine.godwit("member", "list", "--json").lines.count == 2)
  }
}
