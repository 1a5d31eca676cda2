import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitDocuments
@testable import GodwitEngine

@Suite("Documents on several replicas")
struct DocumentMergeTests {
  @Test("a collection and its members appear on other replicas by themselves")
  func appears() async throws {
    let group = try await TestGroup(2)
    let here = group[0].documents("accounts")
    let there = group[1].documents("accounts")
    try await here.set("ada", ["name": "Ada", "price": 3])
    #expect(try await group.send(from: 0, to: 1).heldCount == 0)
    #expect(try await there.get("ada") == ["name": "Ada", "price": 3])
    try await there.merge("ada", ["city": "London", "price": nil])
    try await there.set("bob", ["age": 4])
    try await group.send(from: 1, to: 0)
    #expect(try await here.json("ada") == #"{"city":"London","name":"Ada"}"#)
    #expect(try await here.json("bob") == #"{"age":4}"#)
    #expect(try await group.digests().count == 1)
  }

  @Test("edits of different members are both kept; of one member the later wins and the other is in the conflict log")
  func perMember() async throws {
    let group = try await TestGroup(2)
    let collections = (0...1).map { group[$0].documents("accounts") }
    try await collections[0].set("ada", ["name": "Ada", "price": 1, "city": "Rome"])
    try await group.settle()
    try await collections[0].merge("ada", ["price": 2, "city": "Paris", "new": true])
    group.clock.advance(10)
    try await collections[1].merge("ada", ["name": "Ada L.", "city": "Bonn", "other": [1]])
    try await group.settle()
    let merged = #"{"city":"Bonn","name":"Ada L.","new":true,"other":[1],"price":2}"#
    for collection in collections { #expect(try await collection.json("ada") == merged) }
    #expect(try await group.digests().count == 1)
    let conflicts = try await group[0].conflicts.list()
    #expect(conflicts.map(\.columns) == [["city"]])
  }

  @Test("two replicas that first use one name with different types agree, and keep every value")
  func types() async throws {
    let group = try await TestGroup(3)
    try await group[0].documents("Things").set("a", ["x": 1, "Y": "text"])
    try await group[1].documents("Things").set("b", ["x": ["an", "array"], "Y": 1.5])
    try await group[2].documents("Things").set("c", ["x": "1", "Y": true])
    try await group.settle()
    for replica in group.replicas {
      let things = replica.documents("Things")
      #expect(try await things.json("a") == #"{"Y":"text","x":1}"#)
      #expect(try await things.json("b") == #"{"Y":1.5,"x":["an","array"]}"#)
      #expect(try await things.json("c") == #"{"Y":true,"x":"1"}"#)
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("two replicas that make one document each keep what only they knew")
  func sameKey() async throws {
    let group = try await TestGroup(2)
    try await group[0].documents("t").set("k", ["a": 1, "both": "first"])
    group.clock.advance(5)
    try await group[1].documents("t").set("k", ["b": 2, "both": "second"])
    try await group.settle()
    for replica in group.replicas {
      #expect(try await replica.documents("t").json("k") == #"{"a":1,"b":2,"both":"second"}"#)
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("counters add up and sets unite, whoever declared them and when")
  func declared() async throws {
    let group = try await TestGroup(2)
    let declared = group[0].documents("stats", members: [.counter("hits"), .set("tags")])
    let plain = group[1].documents("stats")
    try await declared.set("k", ["hits": 10, "tags": ["a", "b"]])
    try await group.settle()
    try await declared.add(5, to: "hits", of: "k")
    try await declared.remove("a", from: "tags", of: "k")
    // The other program has declared nothing; the collection knows.
    try await plain.merge("k", ["hits": 13, "tags": ["a", "b", "c"]])
    try await group.settle()
    for collection in [declared, plain] { #expect(try await collection.json("k") == #"{"hits":18,"tags":["b","c"]}"#) }
    #expect(try await group.digests().count == 1)
    #expect(await code { try await plain.add(1, to: "other", of: "k") } == .invalidArgument)
    #expect(await code { try await plain.merge("k", ["hits": "many"]) } == .invalidDocument)
  }

  @Test("what was counted by a replica that did not know the declaration is added")
  func lateDeclaration() async throws {
    let group = try await TestGroup(2)
    let plain = group[1].documents("stats")
    try await plain.set("k", ["hits": 4, "tags": ["x"]])
    let declared = group[0].documents("stats", members: [.counter("hits"), .set("tags")])
    try await declared.add(3, to: "hits", of: "k")
    try await declared.insert("y", into: "tags", of: "k")
    try await group.settle()
    for collection in [declared, plain] { #expect(try await collection.json("k") == #"{"hits":7,"tags":["y","x"]}"#) }
    try await declared.add(1, to: "hits", of: "k")
    try await group.settle()
    #expect(try await plain.get("k")?["hits"] == 8)
    #expect(try await plain.keys { $0.hits == 8 && $0.tags.contains("x") } == ["k"])
    #expect(try await group.digests().count == 1)
  }

  @Test("columns that no document uses make no difference between replicas that hold the same changes")
  func unused() async throws {
    let group = try await TestGroup(2)
    try await group[0].documents("t").set("k", ["a": 1])
    try await group.settle()
    let documents = group[0].documents("t", members: [.counter("n")])
    let other = group[0].documents("other")
    try await group[0].write { tx in
      try documents.in(tx).set("gone", ["b": 1])
      try documents.in(tx).delete("gone")
      try other.in(tx).set("gone", ["b": 1])
      try other.in(tx).drop()
    }
    #expect(try await group.digests().count == 1)
    try await documents.merge("k", ["b": 1])
    #expect(try await group.digests().count == 2)
  }

  @Test("deletes and drops travel; an edit that had not seen one keeps its document")
  func deletes() async throws {
    let group = try await TestGroup(2)
    let collections = (0...1).map { group[$0].documents("t") }
    for key in ["a", "b", "c"] { try await collections[0].set(key, ["n": 1]) }
    try await group.settle()
    try await collections[0].drop()
    try await collections[1].merge("b", ["m": 2])
    try await group.settle()
    for collection in collections {
      #expect(try await collection.keys() == ["b"])
      #expect(try await collection.json("b") == #"{"m":2,"n":1}"#)
    }
    #expect(try await group.digests().count == 1)
  }

  @Test("a member that comes late gets the collections with its state file, and keeps what it wrote before")
  func stateFile() async throws {
    var group = try await ThingGroup(2)
    let documents = group.replicas[0].documents("t", members: [.counter("n")])
    try await documents.set("a", ["x": 1, "y": [1], "n": 2])
    try await documents.set("gone", ["x": 2], expires: Date(timeIntervalSince1970: 1_800_000_000))
    for _ in 0..<3 { try await group.exchange() }
    for replica in group.replicas { _ = try await replica.maintenance.compact() }
    try await documents.merge("a", ["z": true])
    let late = try await group.join()
    // Its columns stand in another order than those of the state file.
    try await late.documents("t").set("b", ["own": 1, "y": 3, "x": 4])
    let file = group.folder.file("stateFile")
    _ = try await group.replicas[0].exportState(to: .file(file))
    #expect(try await late.import(from: .file(file)).applied.state != nil)
    for _ in 0..<3 { try await group.exchange() }
    for replica in group.replicas {
      #expect(try await replica.documents("t").json("a") == #"{"n":2,"x":1,"y":[1],"z":true}"#)
      #expect(try await replica.documents("t").json("b") == #"{"n":0,"own":1,"x":4,"y":3}"#)
      #expect(try await replica.maintenance.verify().isSound)
    }
    var digests: Set<String> = []
    for replica in group.replicas { digests.insert(try await replica.maintenance.digest()) }
    #expect(digests.count == 1)
  }

  @Test("replicas that write random members in random order come to one state")
  func random() async throws {
    for seed in 0..<6 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let group = try await TestGroup(3)
      try await group.settle()
      for _ in 0..<40 {
        let replica = Int.random(in: 0..<3, using: &generator)
        let other = (replica + Int.random(in: 1...2, using: &generator)) % 3
        let members: [Document.Member] = replica == 0 ? [.counter("n"), .set("s")] : []
        let documents = group[replica].documents("t", members: members)
        let key = "k\(Int.random(in: 0..<4, using: &generator))"
        let name = "m\(Int.random(in: 0..<6, using: &generator))"
        group.clock.advance(Int64.random(in: 0...3, using: &generator))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try await documents.set(key, [name: .integer(Int64(seed)), "n": 1])
        case 1: try await documents.merge(key, [name: .string("v\(seed)"), "M": ["x": nil]])
        case 2: try await documents.merge(key, ["n": .integer(Int64.random(in: 0..<9, using: &generator))])
        case 3: try await documents.merge(key, ["s": [.string(name), "c"]])
        case 4: try await documents.delete(key)
        case 5:
          try await documents.merge(key, [name: nil])
          _ = try await group[replica].maintenance.compact()
        default: try await group.send(from: replica, to: other)
        }
      }
      try await group.settle()
      #expect(try await group.digests().count == 1, "seed \(seed)")
      var texts: Set<[String]> = []
      for replica in group.replicas { texts.insert(try await replica.fetch(replica.documents("t").all.json)) }
      #expect(texts.count == 1, "seed \(seed)")
    }
  }

  @Test("replicas that bring a collection to more than 1,000 members by different ones show the same")
  func manyMembers() async throws {
    let group = try await TestGroup(3)
    let collections = group.replicas.map { $0.documents("wide") }
    for (index, collection) in collections.enumerated() {
      let members = (0..<600).map { ("\("abc".map(String.init)[index])\($0)", JSON.integer(Int64($0))) }
      try await collection.set("\(index)", Dictionary(uniqueKeysWithValues: members))
    }
    try await group.settle()
    for index in 0..<3 {
      let shown = try await collections[0].json("\(index)")
      #expect(shown?.isEmpty == false)
      for collection in collections { #expect(try await collection.json("\(index)") == shown) }
    }
    #expect(try await group.digests().count == 1)
    for replica in group.replicas { #expect(try await replica.status().heldCount == 0) }
    // Members that are there can still be written; no other is added.
    try await collections[1].merge("0", ["c599": "x"])
    #expect(await code { try await collections[1].merge("0", ["another": 1]) } == .limitExceeded)
    // A member that comes later gets all of it.
    try await group.settle()
    #expect(try await collections[2].get("0")?["c599"] == "x")
  }

  @Test("documents of 1,000 members, set whole, edited and deleted on two replicas, merge like others")
  func wide() async throws {
    func document(_ value: Int64) -> [String: JSON] {
      Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("m\($0)", .integer(value + Int64($0))) })
    }
    let group = try await TestGroup(2)
    let (here, there) = (group[0].documents("wide"), group[1].documents("wide"))
    for number in 0..<40 { try await here.set("\(number)", document(Int64(number))) }
    try await group.settle()
    #expect(try await there.get("39") == document(39))
    try await there.set("1", document(5_000))
    group.clock.advance(10)
    try await here.merge("1", ["m3": "edited later", "m999": nil])
    try await group.settle()
    var merged = document(5_000)
    merged["m3"] = "edited later"
    merged["m999"] = nil
    #expect(try await here.get("1") == merged)
    #expect(try await there.get("1") == merged)

    // An edit that had not seen the delete brings all of it back.
    try await here.delete("2")
    try await there.merge("2", ["m998": "kept"])
    try await group.settle()
    var kept = document(2)
    kept["m998"] = "kept"
    #expect(try await here.get("2") == kept)
    #expect(try await group.digests().count == 1)
    for replica in group.replicas { #expect(try await replica.maintenance.verify().problems.isEmpty) }
  }
}
