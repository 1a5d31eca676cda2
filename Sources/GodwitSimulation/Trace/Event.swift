/// One thing that happens in a simulated world. An event that means nothing where it comes, since another was taken
/// out of the trace, does nothing.
indirect enum Event: Sendable {
  /// Time passes.
  case pass(milliseconds: Int64)
  /// A machine's clock is set, this far from the right time.
  case setClock(actor: Int, offset: Int64)
  case write(actor: Int, Plan)
  /// The machine stops while this transaction runs, after so many statements.
  case crashWriting(actor: Int, Plan, statement: Int)
  /// A sync file is made; a file that no event delivers was lost on the way.
  case export(actor: Int, file: Int, includesAll: Bool)
  case deliver(file: Int, actor: Int)
  case crashImporting(file: Int, actor: Int, statement: Int)
  /// A file arrives that is not what was sent.
  case deliverDamaged(file: Int, actor: Int, Damage)
  case reopen(actor: Int)
  /// What the replica shows is compared with the independent model.
  case check(actor: Int)
  // What follows needs a product that can do it; see ``Fault``.
  /// The folder is copied: a machine beside this one, with the same disk.
  case clone(actor: Int)
  case backUp(actor: Int)
  /// The last backup is put in the place of the folder.
  case restore(actor: Int)
  /// The program is of the next schema version from now on.
  case upgrade(actor: Int)
  /// What every member is known to hold is forgotten.
  case compact(actor: Int)
  /// One member removes another.
  case remove(actor: Int, by: Int)
  /// One makes a removed one a member again, and a state file for it.
  case readmit(actor: Int, by: Int, file: Int)
  /// A file is imported by one that gives up its own state for it.
  case rejoin(file: Int, actor: Int)
  /// The machine stops while it exports, forgets, migrates or rejoins, after so many statements.
  case halt(Event, statement: Int)
  /// A file of a hostile member arrives.
  case attack(actor: Int, Attack)

  /// Whether somebody may lack afterwards what the others have forgotten, so that leaving it out is no mistake.
  var takesAway: Bool {
    switch self {
    case .clone, .restore, .remove, .readmit, .rejoin: true
    default: false
    }
  }
}

enum Damage: Sendable {
  /// The file ends early, after so many thousandths of it.
  case cut(permille: Int)
  /// One bit is another.
  case flipped(permille: Int, bit: Int)
  case extended
}

/// What can go wrong in a world beside the unavoidable: which events a trace may hold.
package struct Fault: OptionSet, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let loss = Fault(rawValue: 1 << 0)
  package static let repetition = Fault(rawValue: 1 << 1)
  package static let reordering = Fault(rawValue: 1 << 2)
  package static let damage = Fault(rawValue: 1 << 3)
  package static let clocks = Fault(rawValue: 1 << 4)
  package static let crashes = Fault(rawValue: 1 << 5)
  package static let clones = Fault(rawValue: 1 << 6)
  package static let restores = Fault(rawValue: 1 << 7)
  package static let retirement = Fault(rawValue: 1 << 8)
  package static let forgetting = Fault(rawValue: 1 << 9)
  package static let versions = Fault(rawValue: 1 << 10)
  /// Changes of primary keys.
  package static let rekeys = Fault(rawValue: 1 << 11)
  /// Programs of several versions where members forget.
  package static let mixtures = Fault(rawValue: 1 << 12)
  /// Crashes in other things than writes and imports.
  package static let halts = Fault(rawValue: 1 << 13)
  /// More than two versions, and every kind of migration step.
  package static let migrations = Fault(rawValue: 1 << 14)

  /// A hostile member in a quarter of the worlds.
  package static let hostility = Fault(rawValue: 1 << 15)
  /// Two histories of one incarnation of a hostile member. Off: two replicas that have taken in one each, and all who
  /// build on either, are brought together by nobody (Specs/incarnations.md, "Forks").
  package static let equivocation = Fault(rawValue: 1 << 16)

  /// A tree whose branches go with their parents, and of which no two have one code.
  package static let trees = Fault(rawValue: 1 << 17)
  /// Members that forget a little at a time, so that the log still holds what rows have forgotten.
  package static let portions = Fault(rawValue: 1 << 18)
  /// Clocks that are wrong by an hour or two, and minutes between events.
  package static let hours = Fault(rawValue: 1 << 19)

  static let names: [(name: String, fault: Fault)] = [
    ("loss", .loss), ("repetition", .repetition), ("reordering", .reordering), ("damage", .damage),
    ("clocks", .clocks), ("crashes", .crashes), ("clones", .clones), ("restores", .restores),
    ("retirement", .retirement), ("forgetting", .forgetting), ("versions", .versions), ("rekeys", .rekeys),
    ("mixtures", .mixtures), ("halts", .halts), ("migrations", .migrations),
    ("hostility", .hostility), ("trees", .trees), ("portions", .portions), ("hours", .hours),
  ]

  package static var listed: String { names.map(\.name).joined(separator: ", ") }
  package static let all = names.reduce(Fault()) { $0.union($1.fault) }
  /// What a trace holds only when it is asked for.
  static let extraNames: [(name: String, fault: Fault)] = [("equivocation", .equivocation)]
  package static var extraListed: String { extraNames.map(\.name).joined(separator: ", ") }

  /// The fault of this name.
  package init?(name: String) {
    guard let found = (Self.names + Self.extraNames).first(where: { $0.name == name }) else { return nil }
    self = found.fault
  }
}
