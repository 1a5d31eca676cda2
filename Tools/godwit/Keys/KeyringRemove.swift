import ArgumentParser
import Foundation
import Godwit
import GodwitFiles
import ToolSupport

struct KeyringRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a slot and seal the keyring under a new master key.",
    discussion: """
      The slot's secret opens nothing that is written from now on. Copies of the keyring made before stay open to
      whoever has one and the secret; when that matters, replace the database key as well: godwit rekey.

      One of the slots that remain must open with what is at hand, or is typed: a slot that nobody can open would lock
      everybody out.

      Examples:
        godwit keyring remove paper
        godwit keyring remove machine --passphrase-file phrase
      """)

  @Argument(help: "The slot's label or number.")
  var slot: String

  @Flag(help: "Remove it though no other slot has been seen to open; when none does, all is lost.")
  var force = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let removed = try await options.existingKeyring().remove(slot, isForced: force)
    options.console.note("removed slot \(Format.printable(removed.label))")
    if force { options.console.note("no other slot was tried; see whether one opens: godwit keyring test") }
    if options.json { try options.console.line(["removed": .string(removed.label)]) }
  }
}

struct KeyringRotate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Seal the keyring under a new master key, which every slot opens as before.",
    discussion: """
      With --database the database gets a new key after that, as by godwit rekey: then an earlier copy of the keyring
      opens nothing that is here, also for who has opened that and reads each later one.

      Examples:
        godwit keyring rotate
        godwit keyring rotate --database
      """)

  @Flag(help: "Give the database a new key, too.")
  var database = false

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    // In this order: a new key of the database is in no file that the former master key opens.
    try await options.existingKeyring().rotateMasterKey()
    options.console.note("the keyring has a new master key")
    if database { try await options.rekey() }
    if options.json { try options.console.line(["rotated": .bool(true), "rekeyed": .bool(database)]) }
  }
}

struct KeyringAccept: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Continue with a keyring that is older than the database knows.",
    discussion: """
      For when the latest keyring is lost and a backup took its place. Members that were removed and slots that were
      dropped since the backup are back: look with godwit member list and godwit keyring list, and remove them again.

      Examples:
        godwit keyring accept
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    try await options.existingKeyring().accept()
    options.console.note("the keyring is the one to continue with; look at: godwit member list, godwit keyring list")
    if options.json { try options.console.line(["accepted": .bool(true)]) }
  }
}

struct KeyringNewKey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new-key",
    abstract: "Make a new random key, for a credential or a password manager, and print it or write it to a file.",
    discussion: """
      Examples:
        godwit keyring new-key --output key
        godwit keyring new-key | systemd-creds encrypt --name=godwit - /etc/credstore.encrypted/godwit
      """)

  @Option(
    help: ArgumentHelp("Write it to a new file that no other user may read, and print nothing.", valueName: "file"))
  var output: String?

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    let key = ReplicaKeyring.newKey()
    let line = String(key.dropLast())
    if let output {
      // A new file is made; where a machine key lies by default one may be missing.
      if FilePath.name(of: output) != "machine.key" { try Replica.requireNoReplicasFile(at: output) }
      try PrivateFile.makeParent(of: output)
      let file = try PrivateFile.create(output)
      do {
        try file.write(Array(key.utf8))
        try file.synchronize()
      } catch {
        unlink(output)
        throw error
      }
      if options.json { return try options.console.line(["output": .string(output)]) }
      return options.console.note("wrote a key to \(Format.printable(output))")
    }
    if options.json { try options.console.line(["key": .string(line)]) } else { try options.console.line(line) }
  }
}
