import Godwit
import GodwitReports

extension ReportPage {
  var remotes: [HTML] {
    guard !status.remotes.isEmpty else { return [HTML("p", [:], "None: files are carried by hand.")] }
    let rows = status.remotes.map { remote in
      [
        HTML(remote.name), HTML("code", [:], remote.url), HTML(remote.synced),
        remote.problem.map {
          HTML("span", ["class": "bad"], "\($0.code): \($0.message), since \(Format.time($0.since))")
        }
          ?? HTML("ok"),
        HTML(
          remote.found.map { found in
            found.findings.sorted { $0.rawValue < $1.rawValue }.map(\.text).joined(separator: "; ")
              + " (\(Format.time(found.at)))"
          } ?? ""),
      ]
    }
    return [
      PageTable(
        "Remotes", [.text("Name"), .text("Place"), .text("Last in sync"), .text("State"), .text("Found there")], rows
      ).element
    ]
  }

  var waiting: [HTML] {
    let unsent = HTML(
      "p", [:],
      status.unsent == 0
        ? "Each of this replica's transactions is known to be held by all other active members."
        : "\(Format.count(status.unsent, "transaction")) of this replica not known to be held by all other active members."
    )
    guard !picture.missing.waiting.isEmpty || !picture.missing.missing.isEmpty else {
      return [unsent, HTML("p", [:], "Nothing that came waits.")]
    }
    let held = status.heldVersion.map { [HTML("p", [:], $0.text(names))] } ?? []
    let waiting = picture.missing.waiting.map { entry in
      [
        HTML(names.name(entry.replica)), HTML(entry.sequences.text), HTML("\(entry.transactions)"),
        HTML(Format.byteSize(entry.bytes)), HTML("\(entry.setAside)"),
      ]
    }
    let missing = picture.missing.missing.map { entry in
      let holders = entry.holders.map(names.name).joined(separator: ", ")
      return [
        HTML(names.name(entry.replica)), HTML(entry.sequences.text), HTML(holders.isEmpty ? "nobody known" : holders),
      ]
    }
    return [unsent] + held + [
      PageTable(
        "What waits",
        [.text("Of"), .text("Numbers"), .number("Transactions"), .number("Bytes"), .number("Set aside")], waiting
      ).element,
      PageTable("What it waits for", [.text("Of"), .text("Numbers"), .text("Held by")], missing).element,
    ]
  }
}
