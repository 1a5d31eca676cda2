import Foundation
import Godwit
import Testing

@Suite("Keys and requests of documents")
struct DocumentKeyTests {
  private let replica: Replica
  private let goods: Documents

  init() async throws {
    replica = try await Replica.temporary()
    goods = replica.documents("goods")
  }

  @Test(
    "keys that look like JSON are found, compared and deleted as what they are",
    arguments: ["[x", "{x", "\\x", "\\[x", "[1]"])
  func keys(key: String) async throws {
    try await goods.set(key, ["n": 1])
    try await goods.set("a", ["n": 2])
    let quoted = key.replacing("'", with: "''")
    #expect(try await goods.keys(where: "_key = '\(quoted)'") == [key])
    #expect(try await goods.keys(where: "_key in ('\(quoted)', 'b')") == [key])
    #expect(try await goods.keys(where: "_key <> '\(quoted)'") == ["a"])
    #expect(try await goods.keys { $0.documentKey >= key && $0.documentKey <= key } == [key])
    #expect(try await goods.keys { $0.documentKey > "" && $0.documentKey < "~" }.count == 2)
    #expect(try await goods.keys { $0.documentKey.contains(String(key.dropFirst())) } == [key])
    #expect(try await goods.keys { $0.documentKey.contains(["1"] as JSON) || $0.documentKey == ([1] as JSON) } == [])
    #expect(try await goods.delete(goods.where("_key = '\(quoted)'")) == 1)
    #expect(try await goods.keys() == ["a"])
  }

  @Test("a key of digits is met by its number")
  func numbers() async throws {
    try await goods.set("7", ["n": 1])
    #expect(try await goods.keys(where: "_key = 7") == ["7"])
    #expect(try await goods.keys(where: "_key in (6, 7)") == ["7"])
    #expect(try await goods.keys(where: "_key < 8") == [])
  }

  @Test("lists are as long as SQLite binds values, and longer ones are refused")
  func lists() async throws {
    try await replica.write { [goods] tx in
      for number in 0..<900 {
        try goods.in(tx).set("k\(number)", ["n": .integer(Int64(number)), "s": .string("[\(number)")])
      }
    }
    #expect(try await goods.count { $0.n.isIn(Array(0..<900)) } == 900)
    #expect(try await goods.count { $0.s.isIn((0..<900).map { "[\($0)" }) } == 900)
    let text = (0..<500).map { "'k\($0)'" }.joined(separator: ", ")
    #expect(try await goods.count(where: "_key in (\(text))") == 500)
    #expect(try await goods.count { $0.n.isIn([Int]()) } == 0)
    #expect(try await goods.count { $0.n.isIn([.integer(3), .bool(true), .null, "[4"] as [JSON]) } == 899)
    #expect(await code { try await goods.count { $0.n.isIn(Array(0..<2_000)) } } == .limitExceeded)
  }

  @Test("chains of conditions may be long, and what SQLite would not take is refused as a limit")
  func chains() async throws {
    try await goods.set("a", ["n": 199])
    let any = (0..<200).map { "n = \($0)" }.joined(separator: " or ")
    #expect(try await goods.keys(where: any) == ["a"])
    #expect(
      try await goods.keys { fields in (0..<900).map { fields.n == $0 }.reduce(fields.n == -1) { $0 || $1 } } == ["a"])
    #expect(
      try await goods.delete(
        goods.where { fields in (0..<900).map { fields.n != -$0 - 1 }.reduce(fields.n.exists) { $0 && $1 } }) == 1)
    let many = await code {
      try await goods.keys { fields in
        (0..<5_000).reduce(fields.n.exists) { condition, _ in condition || fields.n.exists }
      }
    }
    #expect(many == .limitExceeded)
    for depth in 1..<80 {
      var condition = goods.where { $0.n == 1 || $0.n != 2 }
      condition = goods.where { fields in
        (0..<depth).reduce(fields.n == 1) { inner, level in
          level % 2 == 0 ? !(inner) || fields.n < 3 : fields.n < 4 && inner
        }
      }
      let failure = await code { try await goods.delete(condition) }
      #expect(failure == nil || failure == .limitExceeded && depth > 8, "depth \(depth)")
    }
  }

  @Test("numbers are compared with numbers, not with true and false; texts by their own bytes")
  func kinds() async throws {
    try await replica.write { [goods] tx in
      try goods.in(tx).set("no", json: #"{"v":false}"#)
      try goods.in(tx).set("yes", json: #"{"v":true}"#)
      try goods.in(tx).set("one", json: #"{"v":1}"#)
      try goods.in(tx).set("zero", json: #"{"v":0}"#)
      try goods.in(tx).set("minus", json: #"{"v":-0.0}"#)
      try goods.in(tx).set("half", json: #"{"v":0.5}"#)
      try goods.in(tx).set("brace", json: #"{"v":"{x"}"#)
      try goods.in(tx).set("slash", json: #"{"v":"\\x"}"#)
      try goods.in(tx).set("text", json: #"{"v":"m"}"#)
      try goods.in(tx).set("list", json: #"{"v":["m"]}"#)
    }
    #expect(try await goods.keys { $0.v >= 0 } == ["half", "minus", "one", "zero"])
    #expect(try await goods.keys { $0.v < 1 } == ["half", "minus", "zero"])
    #expect(try await goods.keys(where: "v = 1") == ["one"])
    #expect(try await goods.keys(where: "v in (0, 1)") == ["minus", "one", "zero"])
    #expect(try await goods.keys(where: "v = true") == ["half", "one", "yes"])
    #expect(try await goods.keys(where: "v <> 1 and v < 2") == ["half", "minus", "zero"])
    #expect(try await goods.keys(where: "v < 'm'") == ["slash"])
    #expect(try await goods.keys(where: "v > 'm'") == ["brace"])
    #expect(try await goods.keys(where: "v >= '{x' or v <= '\\x'") == ["brace", "slash"])
    #expect(try await goods.keys(where: "v >= ''", order: "v desc") == ["brace", "text", "slash"])
  }
}
