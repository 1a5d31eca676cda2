import Foundation
import Godwit
import Testing

@Suite("Members declared as counters and sets")
struct DeclaredMemberTests {
  @Test("values of another kind stay what they are when a member is declared, and no write buries them")
  func plainValues() async throws {
    let replica = try await Replica.temporary()
    let plain = replica.documents("h")
    try await plain.set("k", json: #"{"x":"hello","t":{"a":1},"n":7}"#)
    let declared = replica.documents("h", members: [.counter("x"), .set("t"), .counter("n")])
    try await declared.set("other", ["x": 1, "t": ["q"], "n": 2])

    #expect(try await plain.json("k") == #"{"n":7,"t":{"a":1},"x":"hello"}"#)
    #expect(try await plain.get("k") == ["x": "hello", "t": ["a": 1], "n": 7])
    #expect(try await plain.keys(where: "x = 'hello' and n = 7") == ["k"])
    #expect(try await plain.keys(where: "x > 0") == ["other"])
    #expect(try await plain.keys { $0.x.contains("ell") } == ["k"])
    let writes: [() async throws -> Void] = [
      { try await declared.add(1, to: "x", of: "k") }, { try await declared.insert("z", into: "t", of: "k") },
      { try await declared.remove("z", from: "t", of: "k") }, { try await plain.merge("k", ["x": 3]) },
      { try await plain.set("k", ["x": 3, "n": 7]) }, { try await plain.merge("k", ["t": []]) },
    ]
    for write in writes { #expect(await code(write) == .valueMismatch) }
    #expect(await code { try await plain.merge("k", ["x": "other"]) } == .invalidDocument)
    #expect(await code { try await plain.set("new", ["x": "text"]) } == .invalidDocument)
    #expect(try await plain.json("k") == #"{"n":7,"t":{"a":1},"x":"hello"}"#)

    // What was read can be written again, and what is of no use any more taken away.
    try await plain.set("k", json: #"{"x":"hello","t":{"a":1},"n":8,"new":1}"#)
    #expect(try await plain.json("k") == #"{"n":8,"new":1,"t":{"a":1},"x":"hello"}"#)
    try await plain.merge("k", ["x": nil, "t": nil])
    try await declared.add(2, to: "x", of: "k")
    try await declared.insert("z", into: "t", of: "k")
    #expect(try await plain.json("k") == #"{"n":8,"new":1,"t":["z"],"x":2}"#)
  }

  @Test("a declared member is the one of its bytes, whatever Unicode holds for the same name")
  func twins() async throws {
    let replica = try await Replica.temporary()
    let (one, other) = ("e\u{301}", "\u{e9}")
    try await replica.documents("t").set("d", [one: "x"])
    try await replica.documents("n").set("d", [one: 100])
    let sets = replica.documents("t", members: [.set(other)])
    for element in 1...3 { try await sets.insert(.integer(Int64(element)), into: other, of: "d") }
    try await sets.remove(2, from: other, of: "d")
    let counts = replica.documents("n", members: [.counter(other)])
    for _ in 0..<3 { try await counts.add(1, to: other, of: "d") }
    #expect(try await replica.documents("t").get("d")?.values.contains([1, 3]) == true)
    let numbers = try await replica.documents("n").get("d")?.values.compactMap(\.integerValue).sorted()
    #expect(numbers == [3, 100])
  }

  @Test("what one replica wrote and another counted at the same time is both there, one behind the other")
  func twoReplicas() async throws {
    let group = try await TestGroup(2)
    let declared = group[0].documents("h", members: [.counter("x")])
    let plain = group[1].documents("h")
    try await plain.set("k", ["a": 1])
    try await group.settle()
    try await declared.add(5, to: "x", of: "k")
    try await plain.merge("k", ["x": "hello"])
    try await group.settle()
    for replica in group.replicas { #expect(try await replica.documents("h").get("k") == ["a": 1, "x": "hello"]) }
    #expect(await code { try await declared.add(1, to: "x", of: "k") } == .valueMismatch)
    try await plain.merge("k", ["x": nil])
    group.clock.advance(5)
    try await group.settle()
    for replica in group.replicas { #expect(try await replica.documents("h").get("k") == ["a": 1, "x": 5]) }
    #expect(try await group.digests().count == 1)
  }

  @Test("a member that is a counter on one replica and a set on another is either, document by document")
  func both() async throws {
    let group = try await TestGroup(2)
    let counting = group[0].documents("h", members: [.counter("x")])
    let collecting = group[1].documents("h", members: [.set("x")])
    try await counting.add(5, to: "x", of: "counted")
    try await collecting.insert("q", into: "x", of: "collected")
    try await counting.add(2, to: "x", of: "both")
    try await collecting.insert("r", into: "x", of: "both")
    try await group.settle()
    for replica in group.replicas {
      let documents = replica.documents("h")
      #expect(try await documents.get("counted") == ["x": 5])
      #expect(try await documents.get("collected") == ["x": ["q"]])
      #expect(try await documents.get("both") == ["x": ["r"]])
      #expect(try await documents.keys { $0.x.contains("q") || $0.x == 5 } == ["collected", "counted"])
    }
    try await counting.add(1, to: "x", of: "counted")
    try await collecting.insert("s", into: "x", of: "collected")
    #expect(await code { try await counting.add(1, to: "x", of: "collected") } == .valueMismatch)
    #expect(await code { try await collecting.insert("s", into: "x", of: "counted") } == .valueMismatch)
    try await collecting.merge("both", ["x": nil])
    try await group.settle()
    for replica in group.replicas {
      let documents = replica.documents("h")
      #expect(try await documents.get("counted") == ["x": 6])
      #expect(try await documents.get("collected") == ["x": ["q", "s"]])
      #expect(try await documents.get("both") == ["x": 2])
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("elements of sets have one form, and are distinguished by their bytes")
  func elements() async throws {
    let group = try await TestGroup(2)
    let declared = group[0].documents("h", members: [.set("s")])
    let text =
      #"{"s":[9007199254740993,1,1.0,18446744073709551615.0,-0.0,1e20,{"b":1,"a":[1.50]},"\u002f","e\u0301","\u00e9"]}"#
    try await declared.set("k", json: text)
    let expected =
      #"{"s":["/","e"# + "\u{301}" + #"","é",-0.0,1,1.8446744073709552e+19,1e+20,9007199254740993,{"a":[1.5],"b":1}]}"#
    #expect(try await declared.json("k") == expected)
    try await group.settle()
    #expect(try await group[1].documents("h").json("k") == expected)
    try await declared.remove("é", from: "s", of: "k")
    try await group[1].documents("h", members: [.set("s")]).remove([:], from: "s", of: "k")
    try await group[1].documents("h", members: [.set("s")]).insert("\u{1}\u{7f}\n", into: "s", of: "k")
    try await group.settle()
    for replica in group.replicas {
      let found = try #require(try await replica.documents("h").get("k")?["s"]?.arrayValue)
      #expect(found.contains("e\u{301}") && !found.contains("\u{e9}") && found.contains("\u{1}\u{7f}\n"))
      #expect(found.count == 9)
    }
    #expect(try await group.digests().count == 1)
    #expect(await code { try await declared.set("bad", json: #"{"s":[18446744073709551615]}"#) } == .invalidDocument)
  }

  @Test("names that Unicode holds for the same are refused in one object, and not lost when two replicas wrote them")
  func forms() async throws {
    let group = try await TestGroup(2)
    let here = group[0].documents("h")
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let refused = [
      "{\"\(composed)\":1,\"\(decomposed)\":2}", "{\"x\":[{\"\(composed)\":1,\"\\u0065\u{301}\":2}]}",
      // The Kelvin sign is a K, the Greek question mark a semicolon.
      "{\"K\":1,\"\u{212A}\":2}", "{\"x\":{\"a\u{37E}\":1,\"a;\":2}}",
    ]
    for text in refused {
      #expect(await code { try await here.set("k", json: text) } == .invalidDocument)
      #expect(await code { try JSON(text: text) } == .invalidDocument)
    }
    #expect(try await group[0].collections() == [])
    try await here.set("k", json: "{\"\(composed)\":1}")
    try await group[1].documents("h").set("k", json: "{\"\(decomposed)\":2}")
    try await group.settle()

    // The first in the order of bytes has its name, the other that of its column; no way of reading fails or leaves one
    // out.
    for replica in group.replicas {
      let documents = replica.documents("h")
      #expect(try await documents.json("k") == "{\"$233_\":1,\"\(decomposed)\":2}")
      #expect(try await documents.get("k") == ["$233_": 1, decomposed: 2])
      #expect(try await replica.fetch(documents.all).map(\.members) == [["$233_": 1, decomposed: 2]])
      #expect(try await documents.get("k", as: [String: Int].self) == ["$233_": 1, decomposed: 2])
      #expect(try await documents.keys(where: "\(composed) = 1 and \(decomposed) = 2") == ["k"])
    }
    // What was read can be written again, and nothing goes.
    let text = try #require(try await here.json("k"))
    try await here.set("copy", json: text)
    #expect(try await here.json("copy") == text)
    try await here.merge("k", json: "{\"\(decomposed)\":null}")
    #expect(try await here.get("k") == [composed: 1])
  }

  @Test("a write that would give a document a member in a second form is refused, and the error says what to do")
  func secondForm() async throws {
    let replica = try await Replica.temporary()
    let documents = replica.documents("h", members: [.counter("n\u{e9}")])
    try await documents.set("k", json: "{\"\u{e9}\":1}")
    try await documents.set("other", json: "{\"e\u{301}\":2}")
    let error = await error { try await documents.merge("k", json: "{\"a\":1,\"e\u{301}\":2}") }
    #expect(error?.code == .invalidDocument)
    #expect(error?.message.contains(#"it is \u{00E9}, not e\u{0301}"#) == true, "\(error?.message ?? "")")
    #expect(error?.hint?.contains("merge that one as null") == true)
    #expect(await code { try await documents.merge("k", json: "{\"ne\u{301}\":2}") } == .invalidDocument)
    #expect(try await documents.json("k") == "{\"n\u{e9}\":0,\"\u{e9}\":1}")
    // Taken away first, or written whole, there is only one.
    try await documents.merge("k", json: "{\"\u{e9}\":null}")
    try await documents.merge("k", json: "{\"e\u{301}\":3}")
    try await documents.set("other", json: "{\"\u{e9}\":4}")
    #expect(try await documents.json("k") == "{\"e\u{301}\":3,\"n\u{e9}\":0}")
    #expect(try await documents.json("other") == "{\"n\u{e9}\":0,\"\u{e9}\":4}")
  }

  @Test("what was an array before its member was declared as a set is found by its elements, as it is shown")
  func earlierArray() async throws {
    let replica = try await Replica.temporary()
    try await replica.documents("n").set("old", ["tags": ["a"]])
    let notes = replica.documents("n", members: [.set("tags")])
    try await notes.set("new", ["tags": ["a"]])
    try await notes.set("none", ["tags": []])
    #expect(try await notes.keys { $0.tags == ["a"] } == ["new", "old"])
    #expect(try await notes.keys { $0.tags == JSON.array([]) } == ["none"])
    #expect(try await notes.keys(where: "tags contains 'a'") == ["new", "old"])
  }

  @Test("an element is the one that sets have, however its number is written, and so is a set's absence")
  func elementForms() async throws {
    let group = try await TestGroup(1)
    let sizes = group[0].documents("h", members: [.set("x")])
    try await sizes.insert(.real(2), into: "x", of: "a")
    try await sizes.insert(.array([.real(3)]), into: "x", of: "a")
    try await sizes.insert(2, into: "x", of: "a")
    #expect(try await sizes.get("a")?["x"]?.arrayValue?.count == 2)
    try await sizes.remove(.real(2), from: "x", of: "a")
    try await sizes.remove(.array([.real(3)]), from: "x", of: "a")
    #expect(try await sizes.get("a") == ["x": []])
    #expect(await code { try await sizes.insert(.real(.nan), into: "x", of: "a") } == .valueNotStorable)
    try await sizes.remove(1, from: "x", of: "none")
    #expect(await code { try await sizes.remove(1, from: "y", of: "none") } == .invalidArgument)
    #expect(await code { try await sizes.remove(1, from: "y", of: "a") } == .invalidArgument)
  }
}
