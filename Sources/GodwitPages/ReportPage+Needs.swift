import Godwit
import GodwitReports

extension ReportPage {
  /// What a person should look at, with what shows more of it.
  private struct Need {
    let text: String
    let command: String?

    init(_ text: String, _ command: String? = nil) {
      self.text = text
      self.command = command
    }
  }

  var needs: [HTML] {
    let list = wrong + remoteNeeds + waitingNeeds
    guard !list.isEmpty else { return [HTML("p", ["class": "good"], "Nothing: all is well.")] }
    return [
      HTML(
        "ul", ["class": "needs"],
        list.map { need in
          HTML("li", [:], [HTML(need.text)] + (need.command.map { [HTML(": "), HTML("code", [:], $0)] } ?? []))
        })
    ]
  }

  /// What does not end by itself.
  private var wrong: [Need] {
    let altered = status.alteredAt.map {
      [
        Need(
          "Since \(Format.time($0)) the tables hold something else than was noted beside the keyring", "godwit verify")
      ]
    }
    return (altered ?? [])
      + status.forks.map {
        Need(
          "\(names.forked($0)). One side takes the other's state",
          "godwit export --state FILE there, godwit import --rejoin FILE here")
      } + status.copied.map { Need(names.copied($0)) } + status.differing.map { Need(names.differing($0)) }
  }

  private var remoteNeeds: [Need] {
    status.remotes.flatMap { remote -> [Need] in
      let problem = remote.problem.map {
        [Need("Remote \(remote.name), since \(Format.time($0.since)): \($0.message)", "godwit sync \(remote.name)")]
      }
      return problem ?? (remote.syncedAt == nil ? [Need("Remote \(remote.name) was never in sync", "godwit sync")] : [])
    }
  }

  private var waitingNeeds: [Need] {
    var needs: [Need] = []
    if let held = status.heldVersion { needs.append(Need(held.text(names))) }
    if status.staged > 0, status.heldVersion?.transactions != status.staged {
      needs.append(Need("\(Format.count(status.staged, "transaction")) waiting for others", "godwit missing"))
    }
    if status.conflicts > 0 {
      needs.append(Need("\(Format.count(status.conflicts, "open conflict"))", "godwit conflicts"))
    }
    if status.limbo > 0 {
      needs.append(Need("\(Format.count(status.limbo, "row")) held back by a rule of the schema", "godwit limbo"))
    }
    return needs
  }
}
