import GodwitBase

/// Finds the member that a person means, the same way wherever one is named (Specs/membership.md, "Naming a member").
struct MemberLookup {
  /// Fewer digits of an ID are more likely to be a name.
  private static let digitCountMin = 4

  private let members: [Roster.Entry]

  private let isActiveOnly: Bool

  init(_ roster: Roster, isActiveOnly: Bool) {
    self.isActiveOnly = isActiveOnly
    members = isActiveOnly ? roster.active : roster.all
  }

  /// The one whose replica ID the text is; otherwise the one that is called so or whose ID starts so, those that were
  /// removed only where no other is called so. Throws `invalidArgument` when that is none, or several.
  func member(_ text: String) throws -> Roster.Entry {
    let digits = text.lowercased()
    if let member = members.first(where: { "\($0.identity.replica)" == digits }) { return member }
    var named = alike(text, isActive: true)
    if named.isEmpty { named = alike(text, isActive: false) }
    let found = members.filter { member in
      let id = member.identity.replica
      let startsSo = digits.count >= Self.digitCountMin && "\(id)".hasPrefix(digits)
      return startsSo || named.contains { $0.identity.replica == id }
    }
    guard let member = found.first else {
      let kind = isActiveOnly ? "active member" : "member"
      throw GodwitError(.invalidArgument, "no \(kind) is called \(text)", hint: "see: godwit member list")
    }
    guard found.count == 1 else { throw Self.ambiguous(text, found) }
    return member
  }

  /// Those called so; when there is one, with those whose names look like it.
  private func alike(_ name: String, isActive: Bool) -> [Roster.Entry] {
    let candidates = members.filter { $0.isActive == isActive }
    guard candidates.contains(where: { $0.name == name }) else { return [] }
    let likeness = NameLikeness(name)
    return candidates.filter { NameLikeness($0.name) == likeness }
  }

  private static func ambiguous(_ text: String, _ found: [Roster.Entry]) -> GodwitError {
    let list = found.map { "\($0.name)\($0.isActive ? "" : " (removed)") \($0.identity.replica)" }
    return GodwitError(
      .invalidArgument,
      "\(found.count) members are called \(text), or what looks like it: \(list.joined(separator: ", "))",
      hint: "give the replica ID of the one that is meant")
  }
}
