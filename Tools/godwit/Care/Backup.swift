import ArgumentParser
import Godwit
import GodwitFiles
import ToolSupport

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the whole replica to one encrypted file.",
    discussion: """
      The file holds the database and the keyring. It opens with any one secret that opens the keyring now: keep a
      recovery code or a passphrase where the machine's loss does not take it along. Others continue to write.

      Examples:
        godwit backup /media/stick/notes.godwit-backup
        godwit keyring add recovery-code --label paper
        godwit -C notes-again restore /media/stick/notes.godwit-backup
      """)

  @Argument(help: "The file. One that exists is replaced, once the new one has been checked.", completion: .file())
  var file: String

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard file != "-" else { throw ValidationError("a backup is read back once written: give the name of a file") }
  }

  func run() async throws {
    let console = options.console
    let report = try await options.withReplica { replica in
      let bar = console.progress("backing up")
      defer { bar.finish() }
      return try await replica.maintenance.backup(to: file) { bar.update($0) }
    }
    if options.json {
      return try console.line([
        "file": .string(file), "bytes": .number(report.bytes), "slots": .array(report.slots.map(\.json)),
      ])
    }
    let secrets = report.slots.map(\.needs).joined(separator: ", or ")
    console.note("wrote \(Format.byteSize(report.bytes)); it opens with: \(secrets)")
    if report.slots.allSatisfy({ $0.factors.contains("machineKey") }) {
      console.note(
        "without this machine's key it cannot be restored; for another way in: godwit keyring add recovery-code")
    }
  }
}

struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Put a backup in the place of the replica, or make it anew from one.",
    discussion: """
      A replica that is there must be the one the backup is of, and no program may have it open. Its keyring stays. The
      restored replica writes under a new incarnation; what it wrote since the backup and other members hold comes back
      with their files. What nobody else is known to hold would be lost, such as rows of tables that are not synced, so
      then nothing is restored without --discard-unsent.

      Examples:
        godwit restore /media/stick/notes.godwit-backup
        godwit -C notes restore notes.godwit-backup --recovery-code-file code.txt
      """)

  @Argument(help: "The file that godwit backup wrote.", completion: .file())
  var file: String

  @Flag(help: "Discard what was written here since the backup and nobody else is known to hold.")
  var discardUnsent = false

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard file != "-" else { throw ValidationError("a backup is read from its end: give the name of a file") }
  }

  func run() async throws {
    let console = options.console
    let location = try options.locator.existingOrNew()
    let bar = console.progress("restoring")
    defer { bar.finish() }
    let report = try await Replica.restore(
      file, to: location.folder, key: location.keys, discardingUnsent: discardUnsent
    ) { bar.update($0) }
    bar.finish()
    if options.json {
      return try console.line([
        "path": .string(location.folder), "replica": .string("\(report.replica)"), "group": .string("\(report.group)"),
        "transactions": .number(report.verification.transactions), "rows": .number(report.verification.rows),
        "digest": .string(report.verification.digest), "keyring": .bool(report.hasRestoredKeyring),
      ])
    }
    console.note(
      "restored \(Format.count(report.verification.rows, "row")) and "
        + "\(Format.count(report.verification.transactions, "transaction")) in \(Format.printable(location.folder)); "
        + "it continues under a new incarnation")
    if report.hasRestoredKeyring, try await !location.opensByMachineKey() { noteKeys(of: location, on: console) }
  }

  /// What has commands here open it without the secret that it was restored by.
  private func noteKeys(of location: ReplicaLocation, on console: Console) {
    let key = ShellWord.quoted(location.machineKey)
    console.note("its keyring is the backup's, and no key of this machine opens it; to give it one:")
    if !PrivateFile.exists(location.machineKey) { console.note("  godwit keyring new-key --output \(key)") }
    console.note("  godwit -C \(ShellWord.quoted(location.folder)) keyring add machine-key:\(key)")
  }
}
