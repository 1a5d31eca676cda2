import ArgumentParser
import Godwit
import ToolSupport

struct Rekey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Encrypt the database anew, under a new key.",
    discussion: """
      Whoever has the old key, or the keyring as it was, cannot open the database from then on. Programs that have the
      replica open continue with the new one by themselves; what they write meanwhile waits. Needs as much free space as
      the database takes. Killed at any time, it leaves the old database or the new one.

      Examples:
        godwit rekey
        godwit keyring remove laptop && godwit rekey
      """)

  @OptionGroup var options: ReplicaOptions

  func run() async throws {
    try await options.rekey()
    if options.json { try options.console.line(["rekeyed": .bool(true)]) }
  }
}

extension ReplicaOptions {
  /// Gives the database of the replica that is there a new key.
  func rekey() async throws {
    let console = console
    try await withReplica { replica in
      let bar = console.progress("rekeying")
      defer { bar.finish() }
      try await replica.maintenance.rekey { bar.update($0) }
    }
    console.note("the database has a new key; backups made before open as they did")
  }
}
