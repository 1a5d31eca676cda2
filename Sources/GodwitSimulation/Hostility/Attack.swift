/// What a hostile member sends to one replica. The seed fixes all that is chosen while the file is made.
struct Attack: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    // What the independent model can follow, when a replica takes it in.
    /// Writes to the world's tables, with timestamps and contexts of its choice.
    case writes
    /// Only the latest of its transactions.
    case gap
    /// Contexts beyond what anybody holds, or of origins that nobody knows of.
    case causes
    /// Differences, sets and timestamps at the ends of what there is.
    case extremes
    /// What others have written, as they wrote it.
    case relay
    /// What others are said to have written, without a proof by them.
    case invention
    /// What others have written, with something else in its place, behind their true proofs.
    case alteration
    /// A false vector, chains, floor and statement.
    case claims
    /// Incarnations that are said to have ended.
    case endings
    /// Members that it adds or renames.
    case roster
    /// Tables and schema versions that there are not.
    case strangeTables
    // What must be refused as a whole.
    /// A row that is named twice in one transaction, NULL in a key, no set where one should be.
    case malformed
    /// A state of its own making. Whoever has nothing yet has to believe one.
    case stateFile
    /// Random bytes behind a good preamble.
    case noise
    // What the model has no words for.
    /// Columns that there are not, and rows without some that there are.
    case strangeColumns
    /// Values of other classes than their columns', and large ones.
    case strangeValues
    /// A file with a part that is cut or has other bits, and all signatures made anew.
    case mangled
    /// Another transaction in the place of its latest. Only when it is asked for (``Fault/equivocation``).
    case equivocation

    static let followed: [Kind] = [
      .writes, .gap, .causes, .extremes, .relay, .invention, .alteration, .claims, .endings, .roster, .strangeTables,
      .malformed, .stateFile, .noise,
    ]
    static let common = allCases.filter { $0 != .equivocation }
    /// Whether the independent model can follow what comes of it.
    var isFollowed: Bool { Self.followed.contains(self) }
  }

  let kind: Kind
  let seed: UInt64
  /// Whose file it looks at before, to know what there is.
  let source: Int
}

/// Puts a hostile member's files between the events of a world. Chosen apart, so that all else in the world is the same
/// without.
struct AttackWriter {
  private var generator: SeededGenerator
  private let actorCount: Int
  private let kinds: [Attack.Kind]
  /// Whether there is such a member.
  let isHostile: Bool

  /// - Parameters:
  ///   - forgets: Of a transaction for which a schema is missing the log must keep all, and an incarnation that is said
  ///     to have written more than anybody holds any more is waited for, so nobody could forget any more.
  init(seed: UInt64, actorCount: Int, forgets: Bool, faults: Fault) {
    var generator = SeededGenerator(seed: ~seed &* 7)
    self.actorCount = actorCount
    isHostile = faults.contains(.hostility) && generator.chance(oneIn: 4)
    let writes = Array(repeating: Attack.Kind.writes, count: 6) + [.gap, .causes, .extremes]
    let all = writes + (generator.chance(oneIn: 3) ? Attack.Kind.common : Attack.Kind.followed)
    let extra = Array(repeating: Attack.Kind.equivocation, count: faults.contains(.equivocation) ? 5 : 0)
    kinds =
      extra + (forgets ? all.filter { ![.strangeTables, .strangeColumns, .mangled, .endings].contains($0) } : all)
    self.generator = generator
  }

  mutating func interspersing(_ events: [Event]) -> [Event] {
    guard isHostile else { return events }
    var places: [Int: [Event]] = [:]
    for _ in 0..<Int.random(in: 3...20, using: &generator) {
      places[Int.random(in: 0...events.count, using: &generator), default: []].append(attack())
    }
    return events.indices.flatMap { (places[$0] ?? []) + [events[$0]] } + (places[events.count] ?? [])
  }

  private mutating func attack() -> Event {
    let attack = Attack(
      kind: kinds.randomElement(using: &generator) ?? .writes, seed: generator.next(),
      source: Int.random(in: 0..<actorCount, using: &generator))
    return .attack(actor: Int.random(in: 0..<actorCount, using: &generator), attack)
  }
}

extension Attack: CustomStringConvertible {
  var description: String { "\(kind.rawValue) (\(seed)), who has seen what \(source) holds" }
}
