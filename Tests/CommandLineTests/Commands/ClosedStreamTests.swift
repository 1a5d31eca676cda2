import Foundation
import Testing

/// What a parent process, or somebody's slip, leaves a run with.
@Suite struct ClosedStreamTests {
  @Test func aClosedInputIsAnErrorAndNobodyElsesFile() throws {
    let machine = try Machine("desk")
    try #require(try machine.godwit("init").status == 0)
    let put = try machine.shell("timeout 20 \"$GODWIT\" put notes --as 1 - 0<&-")
    #expect(put.status == 1, "\(put.error)")
    #expect(put.error.contains("standard input"))
    #expect(try machine.shell("\"$GODWIT\" status >&-").status == 1)
    #expect(try machine.godwit("verify").status == 0)
  }

  @Test func aFolderThatIsGoneHoldsNoReplica() throws {
    let machine = try Machine("desk")
    let made = try machine.shell("mkdir gone && cd gone && rmdir ../gone && \"$GODWIT\" init")
    #expect(made.status == 1, "\(made.text)\(made.error)")
    let asked = try machine.shell("mkdir gone && cd gone && rmdir ../gone && \"$GODWIT\" status")
    #expect(asked.status == 10 && asked.error.contains("is no more"), "\(asked.error)")
  }

  @Test func keysLieInNoOtherFilesPlace() throws {
    let machine = try Machine("desk")
    for (keyring, key) in [
      ("k", "k"), ("k", "k.anchor"), ("k", "k.lock"), (".godwit/database", "m"), ("k", ".godwit/lock"),
      (".godwit/database-gate", "m"), ("k", ".godwit/database-wal"),
    ] {
      let made = try machine.shell("timeout 20 \"$GODWIT\" init --keyring \(keyring) --machine-key \(key)")
      #expect(made.status == 1 && made.error.contains("two of the replica's files"), "\(keyring) \(key): \(made.error)")
      let left = try FileManager.default.contentsOfDirectory(atPath: machine.folder).filter { $0 != ".godwit" }
      #expect(left.isEmpty, "\(left)")
    }
    #expect(try machine.godwit("init", "--keyring", "k", "--machine-key", "m").status == 0)
  }

  @Test func aBackupGoesToNoFolderThatOthersMayWriteTo() throws {
    let machine = try Machine("desk")
    try #require(try machine.godwit("init").status == 0)
    try #require(try machine.shell("mkdir shared && chmod 777 shared").status == 0)
    let made = try machine.godwit("backup", "shared/b")
    #expect(made.status == 1 && made.error.contains("others can write to the folder"), "\(made.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: machine.path("shared")).isEmpty)
  }
}
