/// Which removals count where some keep others from counting: one that no other that counts keeps from it does. Of
/// those that keep each other from it, in a circle that nothing outside breaks, all do: two members that remove each
/// other are both removed (Specs/membership.md, "What counts").
struct RemovalOrder {
  private(set) var counting: [Int] = []

  private let edges: [[Int]]
  /// How many undecided ones keep each from counting.
  private var incoming: [Int]
  private var isDecided: [Bool]

  /// `edges` has of each removal those that it keeps from counting.
  init(count: Int, edges: [[Int]]) {
    self.edges = edges
    incoming = [Int](repeating: 0, count: count)
    isDecided = [Bool](repeating: false, count: count)
    for targets in edges { for target in targets { incoming[target] += 1 } }
    decide((0..<count).filter { incoming[$0] == 0 })
    while isDecided.contains(false) {
      for circle in unbrokenCircles() { decide(circle) }
    }
  }

  /// These count, and so does what is free by them; what they are against does not. Several at once are a circle.
  private mutating func decide(_ first: [Int]) {
    var free = first
    for one in first { isDecided[one] = true }
    while let one = free.popLast() {
      counting.append(one)
      for lost in edges[one] where !isDecided[lost] {
        isDecided[lost] = true
        for target in edges[lost] {
          incoming[target] -= 1
          guard incoming[target] == 0, !isDecided[target] else { continue }
          isDecided[target] = true
          free.append(target)
        }
      }
    }
  }

  /// The circles that no undecided removal outside of them is against.
  private func unbrokenCircles() -> [[Int]] {
    let order = finishOrder()
    var circle = [Int?](repeating: nil, count: edges.count)
    var circles: [[Int]] = []
    // Backwards along the edges, from what the search left last.
    var sources = [[Int]](repeating: [], count: edges.count)
    for source in edges.indices where !isDecided[source] {
      for target in edges[source] where !isDecided[target] { sources[target].append(source) }
    }
    for start in order.reversed() where circle[start] == nil {
      var members = [start]
      var next = 0
      circle[start] = circles.count
      while next < members.count {
        for source in sources[members[next]] where circle[source] == nil {
          circle[source] = circles.count
          members.append(source)
        }
        next += 1
      }
      circles.append(members)
    }
    return circles.enumerated().filter { number, members in
      members.allSatisfy { sources[$0].allSatisfy { circle[$0] == number } }
    }.map(\.element)
  }

  /// The undecided ones in the order in which a search along the edges is done with them.
  private func finishOrder() -> [Int] {
    var order: [Int] = []
    var isSeen = isDecided
    for start in edges.indices where !isSeen[start] {
      var stack = [(place: start, next: 0)]
      isSeen[start] = true
      while let top = stack.last {
        guard top.next < edges[top.place].count else {
          order.append(top.place)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        let target = edges[top.place][top.next]
        if !isSeen[target] {
          isSeen[target] = true
          stack.append((target, 0))
        }
      }
    }
    return order
  }
}
