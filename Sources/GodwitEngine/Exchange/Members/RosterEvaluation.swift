import GodwitBase
import GodwitCrypto
import GodwitKeys

/// What counts of a set of records about members: a function of the set alone (Specs/membership.md, "What counts").
///
/// Records form a tree: each names as its ground the record that makes its issuer a member, up to the founder's. A
/// removal voids all records of the removed member but those that it names, and with them all that stands on them.
package struct RosterEvaluation {
  /// The records that count.
  package private(set) var counting: Set<ContentHash> = []
  /// The records whose grounds lead to the founder's, whether they count or not.
  private(set) var grounded: Set<ContentHash> = []
  /// By which removal a grounded record does not count, or the one that it stands on.
  private(set) var voider: [ContentHash: ContentHash] = [:]

  private struct Node {
    let hash: ContentHash
    let issuer: ReplicaID
    let time: Int64
    /// Of a removal.
    let removed: ReplicaID?
    /// Of a removal: the records that it names and could void.
    let staying: Set<ContentHash>
    /// The place of the record that it stands on; none for the founder's.
    var ground: Int?
    /// Its number in the order of a walk through the tree, and the last of those that stand on it.
    var number = 0
    var last = 0
  }

  /// Those that are grounded, each after the one that it stands on.
  private var nodes: [Node] = []
  private var removalsOf: [ReplicaID: [Int]] = [:]

  init(members: [ContentHash: MemberRecord], names: [ContentHash: NameRecord], founder: ContentHash?) {
    guard let founder, let root = members[founder] else { return }
    collect(members, names, founder, root)
    for (place, node) in nodes.enumerated() {
      if let removed = node.removed { removalsOf[removed, default: []].append(place) }
    }
    let removals = nodes.indices.filter { nodes[$0].removed != nil }
    let direct = voiders(removals)
    let decided = RemovalOrder(count: removals.count, edges: edges(removals, direct)).counting
    let isDecided = Set(decided)
    judge(direct.map { $0.filter(isDecided.contains).map { removals[$0] } }, Set(decided.map { removals[$0] }))
  }

  private mutating func collect(
    _ members: [ContentHash: MemberRecord], _ names: [ContentHash: NameRecord], _ founder: ContentHash,
    _ root: MemberRecord
  ) {
    var waiting: [ContentHash: [Node]] = [:]
    func wait(_ record: some GroundedRecord, _ hash: ContentHash, _ ground: ContentHash, removal: MemberRecord? = nil) {
      waiting[ground, default: []].append(
        Node(
          hash: hash, issuer: record.issuer, time: record.issuedAtMilliseconds, removed: removal?.subject,
          staying: Set(
            removal?.staying.filter { (members[$0]?.issuer ?? names[$0]?.issuer) == removal?.subject } ?? []),
          ground: nil))
    }
    for (hash, record) in members where hash != founder && record.issuer != record.subject {
      wait(record, hash, record.ground ?? founder, removal: record.status == .removed ? record : nil)
    }
    for (hash, name) in names { wait(name, hash, name.ground ?? founder) }
    nodes = [
      Node(
        hash: founder, issuer: root.issuer, time: root.issuedAtMilliseconds, removed: nil, staying: [], ground: nil)
    ]
    var next = 0
    while next < nodes.count {
      defer { next += 1 }
      let hash = nodes[next].hash
      guard let ground = members[hash], ground.status == .active else { continue }
      for var node in waiting[hash] ?? [] where node.issuer == ground.subject {
        node.ground = next
        nodes.append(node)
      }
    }
    grounded = Set(nodes.map(\.hash))
    number()
  }

  /// Numbers the records so that those which stand on one follow it.
  private mutating func number() {
    var sizes = [Int](repeating: 1, count: nodes.count)
    for place in nodes.indices.reversed() {
      if let ground = nodes[place].ground { sizes[ground] += sizes[place] }
    }
    var free = [Int](repeating: 1, count: nodes.count)
    for place in nodes.indices {
      if let ground = nodes[place].ground { nodes[place].number = free[ground] }
      nodes[place].last = nodes[place].number + sizes[place] - 1
      free[place] = nodes[place].number + 1
      if let ground = nodes[place].ground { free[ground] += sizes[place] }
    }
  }

  /// Whether a removal, if it counts, keeps the other record from counting. What the removal stands on itself it
  /// leaves.
  private func voids(_ removal: Int, _ other: Int) -> Bool {
    guard let ground = nodes[other].ground, nodes[removal].removed == nodes[other].issuer,
      nodes[ground].time <= nodes[removal].time, !nodes[removal].staying.contains(nodes[other].hash)
    else { return false }
    return !(nodes[other].number...nodes[other].last).contains(nodes[removal].number)
  }

  /// Of each record the removals that would keep it from counting, whatever it stands on; all by their places in the
  /// list.
  private func voiders(_ removals: [Int]) -> [[Int]] {
    let number = Dictionary(removals.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return nodes.enumerated().map { place, node in
      (removalsOf[node.issuer] ?? []).filter { voids($0, place) }.compactMap { number[$0] }
    }
  }

  /// Which removals keep which others from counting: those that would keep it, or something that it stands on. A record
  /// comes after the one that it stands on, so one pass finds them, as bits.
  private func edges(_ removals: [Int], _ direct: [[Int]]) -> [[Int]] {
    let wordCount = (removals.count + 63) / 64
    var voiding = [UInt64](repeating: 0, count: nodes.count * wordCount)
    for (place, node) in nodes.enumerated() {
      guard let ground = node.ground else { continue }
      for word in 0..<wordCount { voiding[place * wordCount + word] = voiding[ground * wordCount + word] }
      for number in direct[place] { voiding[place * wordCount + number / 64] |= 1 << (number % 64) }
    }
    var edges = [[Int]](repeating: [], count: removals.count)
    for (target, removal) in removals.enumerated() {
      for word in 0..<wordCount {
        var bits = voiding[removal * wordCount + word]
        while bits != 0 {
          let source = word * 64 + bits.trailingZeroBitCount
          if source != target { edges[source].append(target) }
          bits &= bits - 1
        }
      }
    }
    return edges
  }

  /// `voiders` has of each record the removals that count and keep it from counting.
  private mutating func judge(_ voiders: [[Int]], _ decided: Set<Int>) {
    for (place, node) in nodes.enumerated() {
      guard let ground = node.ground else {
        counting.insert(node.hash)
        continue
      }
      let voiding = voiders[place]
      if let first = voiding.min(by: { isEarlier(nodes[$0], nodes[$1]) }) {
        voider[node.hash] = nodes[first].hash
      } else {
        voider[node.hash] = voider[nodes[ground].hash]
      }
      if node.removed == nil ? voider[node.hash] == nil : decided.contains(place) { counting.insert(node.hash) }
    }
  }

  private func isEarlier(_ left: Node, _ right: Node) -> Bool {
    left.time == right.time
      ? left.hash.bytes.lexicographicallyPrecedes(right.hash.bytes) : left.time < right.time
  }
}
