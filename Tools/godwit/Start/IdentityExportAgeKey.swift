import ArgumentParser
import Foundation
import Godwit
import ToolSupport

struct IdentityExportAgeKey: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-age-key",
    abstract: "Write this replica's private keys for the age program, WITHOUT ENCRYPTION.",
    discussion: """
      For an emergency without Godwit: with the file, age opens every sync file that is sealed to this replica, and so
      does everybody else who has it. Keep it on paper or in a safe, and remove it from the disk.

      Examples:
        godwit identity export-age-key identity.txt
        age -d -i identity.txt changes.godwit-sync > container
      """)

  @Argument(help: "The file, which must not exist.")
  var file: String

  @OptionGroup var options: ReplicaOptions

  func validate() throws {
    guard file != "-" else { throw ValidationError("private keys are written to a file, which is open to you alone") }
  }

  /// The warnings are no notes: nothing turns them off.
  func run() async throws {
    let location = try options.locator.existing()
    try warn(
      "\(Format.printable(file)) will not be encrypted: whoever can read it opens every file sealed to this replica")
    let report = try await ReplicaKeyring(at: location.folder, key: location.keys).exportAgeKeys(to: file)
    do {
      try tell(of: report)
    } catch {
      // Nobody would know of it.
      try? FileManager.default.removeItem(atPath: file)
      throw error
    }
  }

  private func tell(of report: Replica.AgeKeys) throws {
    if report.isPostQuantum {
      try warn("its keys are post-quantum: age 1.3 or later reads them, Debian's age 1.1.1 does not")
    }
    guard options.json else {
      return options.console.note("wrote \(Format.count(report.keyCount, "private key"))")
    }
    try options.console.line([
      "file": .string(file), "keys": .number(report.keyCount), "ageRecipient": .string(report.ageRecipient),
      "postQuantum": .bool(report.isPostQuantum), "encrypted": .bool(false),
    ])
  }

  private func warn(_ text: String) throws { try StandardStream.error.write("godwit: warning: \(text)\n") }
}
