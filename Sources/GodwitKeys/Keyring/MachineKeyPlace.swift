import Foundation
import GodwitFiles

/// Where the machine key of a replica lies that nobody has named (Specs/cli.md, "Finding the replica").
package enum MachineKeyPlace {
  private static let name = "machine.key"

  /// In the replica's folder: where a program's replica has it.
  package static func beside(_ folder: String) -> String { "\(folder)/\(name)" }

  /// The user's, for all replicas that the command line has made: `godwit/machine.key` in `$XDG_CONFIG_HOME`, which
  /// counts only when it is absolute (XDG Base Directory Specification), else in `~/.config`.
  package static func user(_ environment: [String: String]) -> String {
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    let own = variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    return "\(own ?? "\(variable("HOME") ?? NSHomeDirectory())/.config")/godwit/\(name)"
  }

  /// The one that opens a keyring: beside the replica, where a new one is made, too; the user's for a keyring without
  /// one beside it.
  package static func existing(
    for keyring: String, in folder: String, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    let (beside, user) = (beside(folder), user(environment))
    let isUsers = !PrivateFile.exists(beside) && PrivateFile.exists(keyring) && PrivateFile.exists(user)
    return isUsers ? user : beside
  }
}
