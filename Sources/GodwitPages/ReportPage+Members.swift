import Godwit
import GodwitReports

extension ReportPage {
  /// How many members and origins the matrix has at most.
  private static let matrixLimit = 24
  /// How many members the list has at most.
  private static let listLimit = 500

  var members: [HTML] {
    let lags = picture.holdings.known.keys.reduce(into: [:]) { $0[$1] = picture.holdings.lag(of: $1) }
    let others = picture.members.filter { lags[$0.identity.replica] != nil }
      .sorted { (lags[$0.id] ?? 0, $1.name) > (lags[$1.id] ?? 0, $0.name) }
    return [list(lags)] + (picture.holdings.versions.isEmpty ? [] : [matrix(others)])
  }

  private func list(_ lags: [ReplicaID: Int]) -> HTML {
    let rows = picture.members.prefix(Self.listLimit).map { member in
      let state = member.isOwn ? "this replica" : member.isActive ? "active" : "removed"
      let lag = lags[member.id].map { $0 == 0 ? HTML("nothing") : HTML("span", ["class": "lag"], "\($0)") }
      return [
        HTML(member.name), HTML("code", [:], "\(member.id)"), HTML(state), HTML("\(heldOf(member.id))"),
        lag ?? HTML("–"),
      ]
    }
    let more = picture.members.count - rows.count
    return HTML([
      PageTable(
        "Members, how much is held here of each, and what of all that each is not known to hold",
        [.text("Member"), .text("Replica"), .text("State"), .number("Held here"), .number("Not known to hold")], rows
      ).element,
      HTML(more > 0 ? [HTML("p", [:], "\(more) more: godwit member list")] : []),
    ])
  }

  private func heldOf(_ replica: ReplicaID) -> UInt64 {
    picture.holdings.versions.filter { $0.replica == replica }.reduce(0) { $0 + $1.sequence }
  }

  /// Members by origins: how far each is known to hold each.
  private func matrix(_ others: [Member]) -> HTML {
    let versions = picture.holdings.versions
    let shown = others.prefix(Self.matrixLimit)
    let gaps = versions.indices.map(gap)
    let columns = versions.indices.sorted { (gaps[$0], versions[$1].replica) > (gaps[$1], versions[$0].replica) }
      .prefix(Self.matrixLimit).sorted()
    let names = names.tellingApart(versions.map { ($0.replica, $0.incarnation) })
    let own = [HTML("this replica")] + columns.map { HTML("\(versions[$0].sequence)") }
    let rows = shown.map { member in
      let known = picture.holdings.known[member.id] ?? []
      return [HTML(member.name)] + columns.map { cell(known[$0], of: versions[$0].sequence) }
    }
    let hidden = [others.count - shown.count, versions.count - columns.count]
    return HTML([
      PageTable(
        "Who holds what: the last transaction of each origin that a member is known to hold, and how many it lacks",
        [.text("Member")] + columns.map { .number("of \(names.name(versions[$0].replica, versions[$0].incarnation))") },
        [own] + rows
      ).element,
      HTML(
        hidden.max() ?? 0 > 0
          ? [HTML("p", [:], "Left out: \(hidden[0]) members and \(hidden[1]) origins with less lag.")] : []),
    ])
  }

  private func cell(_ known: UInt64, of held: UInt64) -> HTML {
    guard known < held else { return HTML("\(known)") }
    return HTML("span", ["class": "lag"], "\(known) (−\(held - known))")
  }

  /// How much of an origin all members together lack.
  private func gap(_ index: Int) -> Int {
    picture.holdings.known.values.reduce(0) { $0 + Int(picture.holdings.versions[index].sequence - $1[index]) }
  }
}
