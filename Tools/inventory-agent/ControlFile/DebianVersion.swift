/// A Debian version, `[epoch:]upstream[-revision]`, in the order of Debian policy, section 5.6.12.
struct DebianVersion: Comparable {
  private let epoch: Substring.UTF8View
  private let upstream: Substring.UTF8View
  private let revision: Substring.UTF8View

  init(_ text: String) {
    var rest = text[...]
    var epoch = Substring()
    if let colon = rest.firstIndex(of: ":") {
      epoch = rest[..<colon]
      rest = rest[rest.index(after: colon)...]
    }
    var revision = Substring()
    if let hyphen = rest.lastIndex(of: "-") {
      revision = rest[rest.index(after: hyphen)...]
      rest = rest[..<hyphen]
    }
    self.epoch = epoch.utf8
    upstream = rest.utf8
    self.revision = revision.utf8
  }

  static func == (left: Self, right: Self) -> Bool { order(left, right) == 0 }
  static func < (left: Self, right: Self) -> Bool { order(left, right) < 0 }

  /// Less than, equal to or greater than zero, as `left` is to `right`. An absent part counts as 0.
  private static func order(_ left: Self, _ right: Self) -> Int {
    let orders = [
      order(left.epoch, right.epoch), order(left.upstream, right.upstream), order(left.revision, right.revision),
    ]
    return orders.first { $0 != 0 } ?? 0
  }

  /// Compares in turns a run of characters that are no digits, then a run of digits as a number.
  private static func order(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Int {
    var (left, right) = (left, right)
    while !left.isEmpty || !right.isEmpty {
      let words = (left.prefix { !$0.isDigit }, right.prefix { !$0.isDigit })
      left = left.dropFirst(words.0.count)
      right = right.dropFirst(words.1.count)
      let numbers = (left.prefix { $0.isDigit }, right.prefix { $0.isDigit })
      left = left.dropFirst(numbers.0.count)
      right = right.dropFirst(numbers.1.count)
      let order = orderOfWords(words.0, words.1)
      if order != 0 { return order }
      let numberOrder = orderOfNumbers(numbers.0, numbers.1)
      if numberOrder != 0 { return numberOrder }
    }
    return 0
  }

  /// A tilde comes before everything, even the end; letters come before all other characters.
  private static func orderOfWords(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Int {
    var (left, right) = (left.makeIterator(), right.makeIterator())
    while true {
      let (first, second) = (left.next(), right.next())
      if first == nil, second == nil { return 0 }
      let difference = rank(first) - rank(second)
      if difference != 0 { return difference }
    }
  }

  private static func rank(_ character: UInt8?) -> Int {
    switch character {
    case UInt8(ascii: "~"): -1
    case nil: 0
    case let character? where character.isLetter: Int(character)
    case let character?: Int(character) + 256
    }
  }

  /// By length, then digit by digit, for numbers may have more digits than an Int: dates and hashes do.
  private static func orderOfNumbers(_ left: Substring.UTF8View, _ right: Substring.UTF8View) -> Int {
    let (left, right) = (left.drop { $0 == UInt8(ascii: "0") }, right.drop { $0 == UInt8(ascii: "0") })
    if left.count != right.count { return left.count - right.count }
    return zip(left, right).map { Int($0) - Int($1) }.first { $0 != 0 } ?? 0
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}
