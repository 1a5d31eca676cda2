import GodwitCore
import Testing

/// Replicas reduced to a clock, the stamps of their cells and what they remember (Specs/clock.md).
private struct Cells {
  struct Write: Hashable {
    let author: Int
    let hlc: HLC
    let cells: Set<Int>
  }

  var clock = HybridClock()
  var wall: Int64
  var stamps: [Int: HLC] = [:]
  var ahead: [Int: HLC] = [:]
  var log: [Write] = []

  mutating func write(_ cells: Set<Int>, author: Int) -> HLC {
    if clock.isAstray(wallMilliseconds: wall) {
      let now = HLC(milliseconds: wall)
      for write in log where write.hlc > now { remember(write) }
      clock.goBack(wallMilliseconds: wall)
    }
    let hlc = clock.tick(wallMilliseconds: wall, above: cells.compactMap { ahead[$0] }.max())
    let write = Write(author: author, hlc: hlc, cells: cells)
    if hlc > clock.last { remember(write) }
    apply(write)
    ahead = ahead.filter { $0.value > clock.last }
    return hlc
  }

  mutating func take(_ write: Write) {
    if !clock.follow(write.hlc, wallMilliseconds: wall) { remember(write) }
    apply(write)
  }

  private mutating func remember(_ write: Write) {
    for cell in write.cells { ahead[cell] = max(ahead[cell] ?? write.hlc, write.hlc) }
  }

  private mutating func apply(_ write: Write) {
    log.append(write)
    for cell in write.cells { stamps[cell] = max(stamps[cell] ?? write.hlc, write.hlc) }
  }
}

@Suite("The clock's rules, on random runs")
struct ClockRulesTests {
  private static let year: Int64 = 365 * 86_400_000

  @Test("a write beats all that its author held of the same cells, whatever the clocks", arguments: UInt64(1)...200)
  func writesWin(seed: UInt64) {
    var random = SplitMix(state: seed)
    let start: Int64 = 1_700_000_000_000
    // The last two have clocks that can be trusted; the others' jump by years.
    var replicas = (0..<4).map { _ in Cells(wall: start) }
    for _ in 0..<120 {
      for index in replicas.indices { replicas[index].wall += Int64.random(in: 0...5, using: &random) }
      let index = Int.random(in: 0..<4, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where index < 2:
        replicas[index].wall = start + Int64.random(in: -2 * Self.year...2 * Self.year, using: &random)
      case 1..<4:
        let other = Int.random(in: 0..<4, using: &random)
        let known = Set(replicas[index].log)
        for write in replicas[other].log where !known.contains(write) { replicas[index].take(write) }
      default:
        let cells = Set((0..<Int.random(in: 1...3, using: &random)).map { _ in Int.random(in: 0..<4, using: &random) })
        let before = cells.compactMap { replicas[index].stamps[$0] }.max()
        let hlc = replicas[index].write(cells, author: index)
        #expect(before.map { $0 < hlc } ?? true)
      }
      for replica in replicas[2...] {
        #expect(replica.clock.last.milliseconds <= replica.wall + HybridClock.reachMilliseconds + 1)
      }
    }
  }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
