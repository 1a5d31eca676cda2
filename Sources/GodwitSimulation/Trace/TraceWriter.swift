import Godwit

/// Makes the trace of a seed. What happens is fixed beforehand and looks at no replica, so that an event can be taken
/// out and the others stay what they are.
struct TraceWriter {
  private var generator: SeededGenerator
  private var haltGenerator: SeededGenerator
  private let faults: Fault
  let actorCount: Int
  /// Who hands files to whom.
  let ways: [(from: Int, to: Int)]
  /// One in how many writes and imports ends in a crash.
  private let crashRarity: Int
  /// One that never writes, in some worlds: its backups can be restored whatever the product does about sequences.
  private let reader: Int?
  private var readerIsBackedUp = false
  /// One in how many files is lost, and how often a file overtakes others.
  private let lossRarity: Int
  private let overtakingRarity: Int
  /// Whether members forget what they need not remember, and how soon by themselves.
  private let forgets: Bool
  /// Whose program is changed at the end alone: what others write at newer versions waits there for long.
  private let laggard: Int?
  /// The schema version that all programs come to, from 0 on.
  let latestVersion: Int
  let keptTransactions: Int
  /// Whether members are removed, and who is, as far as the trace knows.
  private let retires: Bool
  private var removed: [Int] = []
  private var plans: PlanWriter
  private var events: [Event] = []
  /// Files made and not lost, with their receivers.
  private var onTheWay: [(file: Int, to: Int)] = []
  /// Copies of machines, behind the others.
  private var cloneCount = 0
  private var fileCount = 0

  init(seed: UInt64, faults: Fault) {
    var generator = SeededGenerator(seed: seed)
    self.faults = faults
    let count = [2, 2, 3, 3, 3, 4, 5].randomElement(using: &generator) ?? 2
    actorCount = count
    ways = Self.topology(count, &generator)
    crashRarity = faults.contains(.crashes) ? [4, 20, 20, 60].randomElement(using: &generator) ?? 20 : 0
    reader = faults.contains(.restores) && generator.chance(oneIn: 3) ? count - 1 : nil
    lossRarity = [2, 4, 10].randomElement(using: &generator) ?? 4
    overtakingRarity = [1, 2, 2, 5].randomElement(using: &generator) ?? 2
    let isVersioned = faults.contains(.versions) && generator.chance(oneIn: 4)
    latestVersion = isVersioned ? Self.latestVersion(seed, faults) : 0
    forgets = faults.contains(.forgetting) && (!isVersioned || faults.contains(.mixtures)) && generator.chance(oneIn: 2)
    keptTransactions = forgets ? [2, 6, 20].randomElement(using: &generator) ?? 6 : 1_000
    retires = latestVersion != 1 && faults.contains(.retirement) && count > 2 && generator.chance(oneIn: 4)
    plans = PlanWriter(&generator, faults: faults, version: latestVersion)
    self.generator = generator
    haltGenerator = SeededGenerator(seed: ~seed)
    laggard = Self.laggard(seed, among: count)
  }

  /// Chosen apart, so that everybody else does the same without.
  private static func laggard(_ seed: UInt64, among count: Int) -> Int? {
    var generator = SeededGenerator(seed: ~seed &* 11)
    return generator.chance(oneIn: 2) ? Int.random(in: 0..<count, using: &generator) : nil
  }

  /// Chosen apart, so that worlds of two versions are the same without.
  private static func latestVersion(_ seed: UInt64, _ faults: Fault) -> Int {
    var generator = SeededGenerator(seed: ~seed &* 3)
    guard faults.contains(.migrations), !generator.chance(oneIn: 3) else { return 1 }
    return Int.random(in: 2...TableShape.latestVersion, using: &generator)
  }

  /// A ring, a star, a line, or all with all.
  private static func topology(_ count: Int, _ generator: inout SeededGenerator) -> [(from: Int, to: Int)] {
    var pairs: [(Int, Int)] = []
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: pairs = (0..<count).map { ($0, ($0 + 1) % count) }
    case 1: pairs = (1..<count).flatMap { [(0, $0), ($0, 0)] }
    case 2: pairs = (1..<count).flatMap { [($0 - 1, $0), ($0, $0 - 1)] }
    default: for from in 0..<count { for to in 0..<count where from != to { pairs.append((from, to)) } }
    }
    return pairs.map { (from: $0.0, to: $0.1) }
  }

  mutating func write() -> [Event] {
    if faults.contains(.clocks) {
      for actor in 0..<actorCount { events.append(.setClock(actor: actor, offset: offset())) }
    }
    for actor in 0..<actorCount where actor != reader && (actor == 0 || generator.chance(oneIn: 3)) {
      events.append(.write(actor: actor, plans.beginning(&generator)))
    }
    if generator.chance(oneIn: 2) { shareBeginning() }
    for _ in 0..<Int.random(in: 20...80, using: &generator) { addEvent() }
    if let laggard, laggard != reader, forgets, latestVersion > 1, !removed.contains(laggard) { addLag(of: laggard) }
    return faults.contains(.halts) && crashRarity > 0 ? events.map { halting($0) } : events
  }

  /// Chosen apart, so that all else in the world is the same without.
  private mutating func halting(_ event: Event) -> Event {
    let (rarity, last): (Int, Int)
    switch event {
    case .export: (rarity, last) = (4 * crashRarity, 40)
    case .compact: (rarity, last) = (crashRarity, 120)
    case .upgrade, .rejoin: (rarity, last) = (2, 400)
    default: return event
    }
    guard haltGenerator.chance(oneIn: rarity) else { return event }
    return .halt(event, statement: Int.random(in: 1...last, using: &haltGenerator))
  }

  mutating func epilogue() -> [Plan] { (0..<4).map { _ in plans.plan(&generator) } }

  /// The others write at the latest version, everybody has all of it, it is forgotten as far as it may be, and the one
  /// that could not apply it writes to the same rows.
  private mutating func addLag(of laggard: Int) {
    var generator = SeededGenerator(seed: generator.next())
    let others = (0..<actorCount).filter { $0 != laggard && $0 != reader && !removed.contains($0) }
    for other in others {
      events += Array(repeating: .upgrade(actor: other), count: latestVersion)
      for _ in 0..<2 { events.append(.write(actor: other, plans.plan(&generator))) }
    }
    for sender in others + [laggard] + others {
      fileCount += 1
      events.append(.export(actor: sender, file: fileCount, includesAll: false))
      for actor in others + [laggard] where actor != sender { events.append(.deliver(file: fileCount, actor: actor)) }
    }
    // Each may be one small step.
    for _ in 0..<12 {
      for other in others { events.append(.compact(actor: other)) }
    }
    for _ in 0..<4 { events.append(.write(actor: laggard, plans.plan(&generator))) }
    // Where nobody was away nothing may be left out.
    if !generator.chance(oneIn: 4) { events.removeAll { $0.takesAway } }
  }

  private mutating func crashes() -> Bool { crashRarity > 0 && generator.chance(oneIn: crashRarity) }

  /// A crash comes after one of the statements that a write of few rows takes, the commit and what follows it included.
  private mutating func addWrite() {
    let (actor, plan) = (actor, plans.plan(&generator))
    if actor == reader { return }
    guard crashes() else { return events.append(.write(actor: actor, plan)) }
    events.append(.crashWriting(actor: actor, plan, statement: Int.random(in: 15...80, using: &generator)))
  }

  /// Everyone begins with the rows of the first.
  private mutating func shareBeginning() {
    fileCount += 1
    events.append(.export(actor: 0, file: fileCount, includesAll: false))
    for actor in 1..<actorCount { events.append(.deliver(file: fileCount, actor: actor)) }
  }

  private var actor: Int { mutating get { Int.random(in: 0..<actorCount + cloneCount, using: &generator) } }

  /// Mostly a little wrong, or not at all; now and then by far.
  private mutating func offset() -> Int64 {
    switch Int.random(in: 0..<8, using: &generator) {
    case 0..<3: 0
    case 5 where faults.contains(.hours): Int64.random(in: -9_000_000...9_000_000, using: &generator)
    case 3..<6: Int64.random(in: -5_000...5_000, using: &generator)
    case 6: Int64.random(in: -100_000_000...100_000_000, using: &generator)
    default: 365 * 86_400_000
    }
  }

  private mutating func addEvent() {
    if generator.chance(oneIn: 2) { events.append(.pass(milliseconds: Int64.random(in: 0...20, using: &generator))) }
    if faults.contains(.hours), generator.chance(oneIn: 16) {
      events.append(.pass(milliseconds: Int64.random(in: 60_000...3_600_000, using: &generator)))
    }
    if let reader, generator.chance(oneIn: 10) {
      events.append(readerIsBackedUp ? .restore(actor: reader) : .backUp(actor: reader))
      readerIsBackedUp.toggle()
    }
    if faults.contains(.restores), generator.chance(oneIn: reader == nil ? 40 : 12) { addLapse() }
    if forgets, generator.chance(oneIn: 12) { events.append(.compact(actor: actor)) }
    if latestVersion > 0, generator.chance(oneIn: latestVersion > 1 ? 7 : 15), actor != laggard {
      events.append(.upgrade(actor: actor))
    }
    if retires, generator.chance(oneIn: 12) { addRetirement() }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<52: addWrite()
    case 52..<68: send()
    case 68..<82: deliver()
    case 82..<86 where !faults.isDisjoint(with: [.clones, .restores]): addRareEvent()
    case 82..<88: events.append(.check(actor: actor))
    case 88: events.append(.reopen(actor: actor))
    case 90..<92 where faults.contains(.clocks): events.append(.setClock(actor: actor, offset: offset()))
    case 97..<99 where faults.contains(.damage): deliverDamaged()
    default: send()
    }
  }

  /// One says what it holds and loses it: what it is sent next begins behind that.
  private mutating func addLapse() {
    let lapsing = reader ?? restorable
    guard let way = ways.filter({ $0.to == lapsing }).randomElement(using: &generator) else { return }
    func hand(_ from: Int, _ to: Int) {
      fileCount += 1
      events.append(.export(actor: from, file: fileCount, includesAll: false))
      events.append(.deliver(file: fileCount, actor: to))
    }
    events.append(.backUp(actor: lapsing))
    hand(way.from, lapsing)
    hand(lapsing, way.from)
    events.append(.restore(actor: lapsing))
    if way.from != reader { events.append(.write(actor: way.from, plans.plan(&generator))) }
    hand(way.from, lapsing)
  }

  private mutating func addRareEvent() {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0 where faults.contains(.clones) && cloneCount < 2:
      events.append(.clone(actor: actor))
      cloneCount += 1
    case 1 where faults.contains(.restores), 2 where faults.contains(.restores):
      events.append(.restore(actor: restorable))
    case 3 where faults.contains(.restores): events.append(.backUp(actor: actor))
    default: break
    }
  }

  /// The first is never removed: somebody is there to come back to.
  private mutating func addRetirement() {
    guard let gone = removed.randomElement(using: &generator), generator.chance(oneIn: 2) else {
      let leaving = Int.random(in: 1..<actorCount, using: &generator)
      if !removed.contains(leaving) { removed.append(leaving) }
      return events.append(.remove(actor: leaving, by: Int.random(in: 0..<actorCount, using: &generator)))
    }
    removed.removeAll { $0 == gone }
    fileCount += 1
    events.append(.readmit(actor: gone, by: Int.random(in: 0..<actorCount, using: &generator), file: fileCount))
    if !generator.chance(oneIn: 4) { events.append(.rejoin(file: fileCount, actor: gone)) }
  }

  /// Where members are removed, the first does not lose anything either: two of them might each wait for the other.
  private var restorable: Int { mutating get { retires ? Int.random(in: 1..<actorCount, using: &generator) : actor } }

  private mutating func send() {
    guard var way = ways.randomElement(using: &generator) else { return }
    if cloneCount > 0, generator.chance(oneIn: 3) {
      let clone = actorCount + Int.random(in: 0..<cloneCount, using: &generator)
      way = Bool.random(using: &generator) ? (way.from, clone) : (clone, way.to)
    }
    fileCount += 1
    events.append(.export(actor: way.from, file: fileCount, includesAll: generator.chance(oneIn: 4)))
    if faults.contains(.loss), generator.chance(oneIn: lossRarity) { return }
    onTheWay.append((fileCount, way.to))
  }

  private mutating func deliver() {
    guard !onTheWay.isEmpty else { return send() }
    let isInOrder = !faults.contains(.reordering) || !generator.chance(oneIn: overtakingRarity)
    let index = isInOrder ? 0 : Int.random(in: 0..<onTheWay.count, using: &generator)
    let (file, to) = onTheWay[index]
    if crashes() {
      events.append(.crashImporting(file: file, actor: to, statement: Int.random(in: 1...200, using: &generator)))
    } else {
      events.append(.deliver(file: file, actor: to))
    }
    let comesAgain = faults.contains(.repetition) && generator.chance(oneIn: 5)
    if !comesAgain { onTheWay.remove(at: index) }
  }

  private mutating func deliverDamaged() {
    guard let (file, to) = onTheWay.randomElement(using: &generator) else { return }
    let place = Int.random(in: 0..<1000, using: &generator)
    let damage: Damage =
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: .cut(permille: place)
      case 1: .flipped(permille: place, bit: Int.random(in: 0..<8, using: &generator))
      default: .extended
      }
    events.append(.deliverDamaged(file: file, actor: to, damage))
  }
}
