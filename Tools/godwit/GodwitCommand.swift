import ArgumentParser
import Godwit
import ToolSupport

/// The root of the command line `godwit`.
@main
struct GodwitCommand: AsyncParsableCommand, HelpTopics {
  static let configuration = CommandConfiguration(
    commandName: "godwit",
    abstract: "Keep encrypted replicas and reconcile them by handing over sync files.",
    discussion: """
      One machine starts, another joins:
        desk$    godwit init
        laptop$  godwit identity > laptop.identity
        desk$    godwit member add laptop.identity --name laptop         (compare fingerprints, aloud)
        laptop$  godwit join laptop.godwit-invitation                    (and the other way round)

      From then on, either hands the other its changes, by a file or by a folder or bucket that both reach:
        godwit export - | ssh desk godwit -C notes import -
        godwit remote add home /media/stick/godwit && godwit sync

      -C PATH, --quiet, --json and the options about keys may stand before the command or after it.

      What files there are, what opens them, and how changes reach other machines:
        godwit help formats
        godwit help keys
        godwit help sync
      """,
    version: """
      godwit \(GodwitVersion.current)
      formats: database \(GodwitVersion.databaseFormat), sync file \(GodwitVersion.syncFileFormat)
      SQLite \(GodwitVersion.sqlite), SQLCipher \(GodwitVersion.sqlcipher ?? "none")
      """,
    groupedSubcommands: [
      CommandGroup(name: "Start", subcommands: [Init.self, IdentityCommand.self, MemberCommand.self, Join.self]),
      CommandGroup(
        name: "Data",
        subcommands: [Query.self, Exec.self, Shell.self, Get.self, Put.self, Remove.self, Tables.self]),
      CommandGroup(
        name: "Sync",
        subcommands: [
          RemoteCommand.self, Sync.self, AgentCommand.self, Serve.self, Status.self, Report.self, UICommand.self,
          Log.self, Export.self, Import.self, Inspect.self, Missing.self, Conflicts.self, Limbo.self, Why.self,
        ]),
      CommandGroup(
        name: "Care",
        subcommands: [
          Verify.self, Migrate.self, TableCommand.self, Compact.self, Backup.self, Restore.self,
          KeyringCommand.self, Rekey.self,
        ]),
    ])

  static let topics = [
    (name: "formats", text: HelpTopic.formats), (name: "keys", text: HelpTopic.keys),
    (name: "sync", text: HelpTopic.sync),
  ]

  static func main() {
    DatabaseSource.Reader.serveIfAsked()
    Tool.main(Self.self)
  }
}
