import Godwit
import GodwitReports

extension ReportPage {
  var tables: [HTML] {
    guard !status.tables.isEmpty else { return [HTML("p", [:], "None yet.")] }
    let counted = Set(status.tables.map { $0.name.lowercased() })
    let former = picture.tally.tables.keys.filter { !counted.contains($0.lowercased()) }.sorted()
    let changes = Dictionary(picture.tally.tables.map { ($0.lowercased(), $1) }) { first, _ in first }
    let rows =
      status.tables.map { row($0.name, "\($0.rows)", changes[$0.name.lowercased()]) }
      + former.map { row($0, "not synced any more", picture.tally.tables[$0]) }
    return [
      PageTable(
        "Tables, their rows, and what the transactions that are remembered did to them",
        [.text("Table"), .number("Rows"), .number("Inserted"), .number("Updated"), .number("Deleted")], rows
      ).element
    ]
  }

  private func row(_ name: String, _ rows: String, _ changes: LogTally.Rows?) -> [HTML] {
    let changes = changes ?? LogTally.Rows()
    return [HTML(name), HTML(rows)] + [changes.inserted, changes.updated, changes.deleted].map { HTML("\($0)") }
  }

  var schema: [HTML] {
    let held = status.heldVersion.map { [HTML("p", ["class": "warning"], $0.text(names))] } ?? []
    guard !picture.migrations.migrations.isEmpty else {
      return held + [HTML("p", [:], "Version \(status.schemaVersion), without migrations.")]
    }
    let rows = picture.migrations.migrations.map { entry in
      [
        HTML("\(entry.version)"), HTML(entry.name), HTML(entry.isAddition ? "an addition" : "a barrier"),
        HTML(entry.appliedAt.map { Format.time($0) } ?? "not here"),
        HTML(entry.broughtBy.map(names.name) ?? "the program"),
      ] + (options.showsValues ? [HTML(entry.steps.joined(separator: "; "))] : [])
    }
    return held + [
      HTML("p", [:], "Version \(status.schemaVersion)."),
      PageTable(
        "Migrations",
        [.text("Version"), .text("Name"), .text("Kind"), .text("Ran"), .text("Came with")]
          + (options.showsValues ? [.text("Steps")] : []), rows
      ).element,
    ]
  }

  var sizes: [HTML] {
    let all = picture.tally.seconds.values.flatMap(\.values).reduce(into: LogTally.Amount()) { $0 += $1 }
    let rows = [
      [HTML("Database"), HTML(Format.byteSize(status.databaseBytes))],
      [HTML("of that free, and written anew before it grows"), HTML(Format.byteSize(picture.freeBytes))],
      [HTML("Changes that the log remembers"), HTML(Format.byteSize(all.bytes))],
      [HTML("in transactions"), HTML("\(all.transactions)")],
      [HTML("Transactions that wait"), HTML(Format.byteSize(status.waiting.reduce(0) { $0 + $1.bytes }))],
    ]
    let growth = spans.map { [GrowthChart($0).figure] } ?? []
    return [PageTable("Sizes", [.text("Of"), .number("Size")], rows).element] + growth
  }

  var timeline: [HTML] {
    guard let spans else {
      return [HTML("p", [:], "The log remembers no transaction: there was none, or every member holds all of them.")]
    }
    return [TimelineChart(spans, names).figure]
  }
}
