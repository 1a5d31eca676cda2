import Foundation
import Godwit
import Testing

/// Specs/documents.md, "Queries": what a request may be, and that all of it runs.
@Suite("Limits of requests for documents")
struct DocumentLimitTests {
  private let group: TestGroup
  /// A collection whose member x counts and collects, for which conditions become longest.
  private let both: Documents

  init() async throws {
    group = try await TestGroup(1)
    let replica = group[0]
    try await replica.documents("h", members: [.counter("x")]).add(5, to: "x", of: "counted")
    try await replica.documents("h", members: [.set("x")]).insert("q", into: "x", of: "collected")
    try await replica.documents("h").merge("plain", ["y": "text"])
    both = replica.documents("h")
  }

  @Test("as deep as conditions may be they run, and deeper they are limitExceeded")
  func depth() async throws {
    typealias Form = @Sendable (Document.Fields, Document.Condition, Int) -> Document.Condition
    let forms: [(name: String, least: Int, next: Form)] = [
      ("not", 12, { _, inner, _ in !inner }),
      ("and, or", 16, { $2 % 2 == 0 ? $0.x < "m" || $1 : $0.x > "m" && $1 }),
      ("not, and", 6, { $2 % 2 == 0 ? !$1 : $1 && $0.x >= "m" }),
    ]
    for form in forms {
      for depth in 1...30 {
        let request = both.where { fields in
          (0..<depth).reduce(fields.x < "z") { form.next(fields, $0, $1) }
        }
        let codes = [
          await code { _ = try await group[0].count(request) }, await code { _ = try await group[0].fetch(request) },
          await code { _ = try await both.delete(request.limit(0)) },
        ]
        let expected: Set<GodwitError.Code?> = depth <= form.least ? [nil] : [nil, .limitExceeded]
        #expect(expected.isSuperset(of: codes), "\(form.name), \(depth) deep")
      }
    }
  }

  @Test("long lists of true, false and null, many orders and long conditions run or are limitExceeded")
  func long() async throws {
    let truths = (0..<3_000).map { $0 % 2 == 0 ? JSON.bool(true) : .null }
    #expect(try await both.keys { $0.y.isIn(truths) } == ["collected", "counted"])
    // A text is false to who asks for truth.
    #expect(try await both.keys { $0.y.isIn(truths + [false, false]) } == ["collected", "counted", "plain"])
    #expect(await code { try await both.keys(order: orders(1_000)) } == nil)
    #expect(await code { try await both.keys(order: orders(1_001)) } == .limitExceeded)
    let long = await code {
      try await both.keys { fields in
        (0..<900).map { fields.x < "\($0)" }.reduce(fields.x < "z") { $0 || $1 }
      }
    }
    #expect(long == .limitExceeded)
  }

  private func orders(_ count: Int) -> String { (0..<count).map { "m\($0)" }.joined(separator: ", ") }

  @Test("a name that no document can have is refused, whether there are documents or not")
  func names() async throws {
    let long = String(repeating: "n", count: 130)
    for documents in [both, group[0].documents("none")] {
      #expect(await code { try await documents.keys(where: "\"\" = 1") } == .invalidArgument)
      #expect(await code { try await documents.delete(documents.all.where("not \"\(long)\" = 1")) } == .invalidArgument)
      #expect(await code { try await documents.keys(order: long) } == .invalidArgument)
    }
    #expect(try await both.count() == 3)
  }

  @Test("what a text contains is found as a search from each place finds it")
  func contains() async throws {
    var random = SystemRandomNumberGenerator()
    func text(_ count: Int) -> String { String((0..<count).map { _ in Bool.random(using: &random) ? "a" : "b" }) }
    let texts = (0..<60).map { text($0 / 3) }
    try await group[0].write { [group] tx in
      for (number, text) in texts.enumerated() {
        try group[0].documents("t").in(tx).set("\(number)", ["v": .string("-" + text)])
      }
    }
    for length in 0..<40 {
      let part = text(length / 6)
      let wanted = texts.indices.filter { part.isEmpty || texts[$0].range(of: part, options: .literal) != nil }
      let found = try await group[0].documents("t").keys { $0.v.contains(part) }
      #expect(Set(found) == Set(wanted.map(String.init)), "\(part)")
    }
  }

  @Test("a number that JSON has not is shown as a text by all that read it")
  func infinite() async throws {
    let goods = group[0].documents("goods")
    try await goods.set("far", ["price": 1.5])
    try await group[0].write { try $0.execute("UPDATE documents_goods SET price = 9e999") }
    let members = try #require(try await goods.get("far"))
    #expect(members == ["price": "inf"])
    #expect(try await goods.json("far") == #"{"price":"inf"}"#)
    try await goods.set("again", members)
  }
}
