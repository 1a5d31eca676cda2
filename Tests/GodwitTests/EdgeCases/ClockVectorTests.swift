import GodwitCore
import Testing

/// A file of Specs/vectors/clock: what a clock is asked in turn, and what it answers.
private struct ClockVector: Decodable {
  enum Step: Decodable {
    case tick(wall: Int64, above: Stamp?, is: Stamp)
    case follow(Stamp, wall: Int64, follows: Bool)
    case astray(wall: Int64, is: Bool)
    case goBack(wall: Int64)

    private enum CodingKeys: CodingKey, CaseIterable { case tick, above, follow, wall, follows, astray, goBack, `is` }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(only: CodingKeys.self)
      if let wall = try fields.decodeIfPresent(Int64.self, forKey: .tick) {
        self = .tick(
          wall: wall, above: try fields.decodeIfPresent(Stamp.self, forKey: .above),
          is: try fields.decode(Stamp.self, forKey: .is))
      } else if let stamp = try fields.decodeIfPresent(Stamp.self, forKey: .follow) {
        self = .follow(
          stamp, wall: try fields.decode(Int64.self, forKey: .wall),
          follows: try fields.decode(Bool.self, forKey: .follows))
      } else if let wall = try fields.decodeIfPresent(Int64.self, forKey: .astray) {
        self = .astray(wall: wall, is: try fields.decode(Bool.self, forKey: .is))
      } else {
        self = .goBack(wall: try fields.decode(Int64.self, forKey: .goBack))
      }
    }
  }

  /// `[milliseconds, counter]`
  struct Stamp: Decodable {
    let hlc: HLC

    init(from decoder: any Decoder) throws {
      var parts = try decoder.unkeyedContainer()
      let milliseconds = try parts.decode(Int64.self)
      hlc = HLC(milliseconds: milliseconds, counter: try parts.decode(UInt16.self))
    }
  }

  let title: String
  let row: Int
  let last: Stamp
  let steps: [Step]

  private enum CodingKeys: CodingKey, CaseIterable { case title, row, last, steps }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(only: CodingKeys.self)
    title = try fields.decode(String.self, forKey: .title)
    row = try fields.decode(Int.self, forKey: .row)
    last = try fields.decode(Stamp.self, forKey: .last)
    steps = try fields.decode([Step].self, forKey: .steps)
  }
}

@Suite("Specs/vectors/clock")
struct ClockVectorTests {
  @Test("gives the answers of the file", arguments: VectorFile.all(in: "clock"))
  func answers(file: VectorFile) throws {
    let vector = try file.decode(ClockVector.self)
    var clock = HybridClock(last: vector.last.hlc)
    #expect(!vector.steps.isEmpty)
    for (number, step) in vector.steps.enumerated() {
      let comment: Comment = "\(vector.title): step \(number + 1)"
      switch step {
      case .tick(let wall, let above, let expected):
        let before = clock.last
        let given = clock.tick(wallMilliseconds: wall, above: above?.hlc)
        #expect(given == expected.hlc, comment)
        #expect(given > before, comment)
      case .follow(let other, let wall, let follows):
        let before = clock.last
        let isFollowed = clock.follow(other.hlc, wallMilliseconds: wall)
        #expect(isFollowed == follows, comment)
        #expect(clock.last == (follows ? max(before, other.hlc) : before), comment)
      case .astray(let wall, let expected):
        let isAstray = clock.isAstray(wallMilliseconds: wall)
        #expect(isAstray == expected, comment)
      case .goBack(let wall): clock.goBack(wallMilliseconds: wall)
      }
    }
  }

  @Test("is named after its row")
  func names() throws {
    let files = VectorFile.all(in: "clock")
    #expect(!files.isEmpty)
    for file in files { #expect(Int(file.name.prefix(2)) == (try file.decode(ClockVector.self)).row, "\(file.name)") }
  }
}
