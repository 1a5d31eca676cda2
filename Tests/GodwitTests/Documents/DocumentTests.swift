import Foundation
import Godwit
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("Documents")
struct DocumentTests {
  private let group: TestGroup
  private var replica: Replica { group[0] }

  init() async throws { group = try await TestGroup(1) }

  @Test("a document comes back as it was, whatever its members are")
  func roundTrip() async throws {
    let things = replica.documents("Things")
    let json = """
      {"": 0, "a b": true}
      """
    #expect(await code { try await things.set("bad", json: json) } == .invalidDocument)
    let text =
      #"{"A":{"b":[1,2.5,null,{"c":"d"}],"z":false},"a":"Ünïcödé 🐦","active":true,"big":9223372036854775807,"#
      + #""created$At":"2026-03-01T12:00:00.000Z","e":[],"frac":0.1,"i":-5,"low":-9223372036854775808,"neg":-0.0,"#
      + #""off":false,"s":"[not an array","t":"\\x","true":"true","u":"{}","zero":0,"é":1}"#
    try await things.set("k", json: text)
    #expect(try await things.json("k") == text)
    let members = try #require(try await things.get("k"))
    #expect(members["active"] == true && members["zero"] == 0 && members["A"]?["z"] == false)
    #expect(members["s"] == "[not an array" && members["true"] == "true")
  }

  @Test("numbers are what they say, however they are written")
  func numbers() async throws {
    let things = replica.documents("numbers")
    try await things.set(
      "k",
      json: #"{"a": 1.0, "b": 2e0, "c": 1e400000000000000000, "d": 1}"#.replacing(
        ", \"c\": 1e400000000000000000", with: ""))
    #expect(try await things.json("k") == #"{"a":1,"b":2,"d":1}"#)
    let kinds = try await replica.rows("SELECT typeof(a) AS a, typeof(b) AS b FROM documents_numbers")
    #expect(kinds.first?["a"] == "integer" && kinds.first?["b"] == "integer")
  }

  @Test("setting writes the document whole, merging only what it names, and null takes a member away")
  func wholeAndMerged() async throws {
    let accounts = replica.documents("accounts")
    try await accounts.set("ada", ["name": "Ada", "price": 3, "tags": ["new"]])
    try await accounts.merge("ada", ["price": 4, "tags": nil, "city": "London"])
    #expect(try await accounts.get("ada") == ["name": "Ada", "price": 4, "city": "London"])
    try await accounts.set("ada", ["name": "Ada L."])
    #expect(try await accounts.get("ada") == ["name": "Ada L."])
    try await accounts.merge("new", json: #"{"x":1}"#)
    #expect(try await accounts.json("new") == #"{"x":1}"#)
  }

  @Test("members are columns for SQL, NULL where a document has none")
  func columns() async throws {
    let accounts = replica.documents("accounts")
    try await accounts.set("a", ["name": "Ada", "createdAt": 5, "active": true])
    try await accounts.set("b", ["name": "Bob"])
    let rows = try await replica.rows(
      "SELECT name, created$at AS created FROM documents_accounts WHERE active ORDER BY name")
    #expect(rows.count == 1 && rows[0]["created"] == 5)
    let absent = try await replica.rows("SELECT _key FROM documents_accounts WHERE active IS NULL")
    #expect(absent.map { $0["_key"] } == ["b"])
  }

  @Test("SQL writes to members as to any columns: it is captured, observed and merged")
  func writingBySQL() async throws {
    let group = try await TestGroup(2)
    let accounts = group[0].documents("accounts")
    try await accounts.set("ada", ["name": "Ada", "price": 3])
    try await accounts.set("bob", ["name": "Bob"])
    try await group.settle()
    var observed = group[1].documents("accounts").observe(where: "price > 3").makeAsyncIterator()
    #expect(try await observed.next()?.isEmpty == true)
    try await group[0].write { tx in
      _ = try tx.execute("UPDATE documents_accounts SET price = price + 1 WHERE name = \("Ada")")
      _ = try tx.execute("DELETE FROM documents_accounts WHERE price IS NULL")
    }
    try await group[1].documents("accounts").merge("ada", ["city": "London"])
    try await group.settle()
    for replica in group.replicas {
      #expect(
        try await replica.documents("accounts").all(in: replica) == [#"{"city":"London","name":"Ada","price":4}"#])
    }
    #expect(try await observed.next()?.map(\.json) == [#"{"city":"London","name":"Ada","price":4}"#])
    #expect(try await group.digests().count == 1)
  }

  @Test(
    "what SQL calculates is a number, whole or not, when a whole result is written as one; without that 1.0 reads as true"
  )
  func calculatingBySQL() async throws {
    let accounts = replica.documents("accounts")
    try await accounts.set("a", ["price": 2, "rate": 0.5])
    try await accounts.set("b", ["price": 3, "rate": -0.5])
    try await accounts.set("c", ["price": 0, "rate": 1e300])
    try await accounts.set("d", ["rate": 1])
    let x = "price * rate"
    try await replica.write { tx in
      _ = try tx.execute(SQL(text: "UPDATE documents_accounts SET price = \(x) WHERE _key = 'a'"))
    }
    #expect(try await accounts.get("a")?["price"] == true)
    try await accounts.merge("a", ["price": 2])
    try await replica.write { tx in
      let result = "CASE WHEN \(x) = CAST(\(x) AS INTEGER) THEN CAST(\(x) AS INTEGER) ELSE \(x) END"
      _ = try tx.execute(SQL(text: "UPDATE documents_accounts SET price = \(result)"))
    }
    let prices = try await replica.fetch(accounts.all).map { $0["price"] }
    #expect(prices == [1, -1.5, 0, nil])
    try await replica.write { tx in
      _ = try tx.execute("UPDATE documents_accounts SET price = 1.0, rate = 0.0 WHERE _key = 'a'")
    }
    let written = try await accounts.get("a")
    #expect(written?["price"] == true && written?["rate"] == false)
  }

  @Test("members that another process adds on the same replica are there, for reading, observing and writing")
  func otherProcess() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("replica")
    #expect(try await KillSubject.run(["make", path], umask: "077") == 0)
    let replica = try await Replica.open(at: path, models: Account.self)
    let shared = replica.documents("shared")
    try await shared.set("a", ["x": 1])
    var observed = shared.observe(order: "_key").makeAsyncIterator()
    #expect(try await observed.next()?.map(\.json) == [#"{"x":1}"#])
    #expect(try await KillSubject.run(["document", path, "b", #"{"y":[2],"x":2}"#], umask: "077") == 0)
    #expect(try await observed.next()?.map(\.json) == [#"{"x":1}"#, #"{"x":2,"y":[2]}"#])
    try await shared.merge("b", ["y": 3, "z": 4])
    #expect(try await KillSubject.run(["document", path, "a", #"{"z":5,"w":6}"#], umask: "077") == 0)
    try await shared.merge("a", ["x": nil, "w": 7, "v": 8])
    #expect(try await shared.json("a") == #"{"v":8,"w":7,"z":5}"#)
    #expect(try await shared.json("b") == #"{"x":2,"y":3,"z":4}"#)
    #expect(try await replica.maintenance.verify().isSound)
    await replica.close()
  }

  @Test("has, has all, count, delete and drop say what there is; an absent collection is empty and cannot be dropped")
  func presence() async throws {
    let accounts = replica.documents("accounts")
    #expect(try await accounts.get("a") == nil)
    #expect(try await accounts.count() == 0)
    #expect(try await accounts.keys() == [])
    #expect(await code { try await accounts.drop() } == .notFound)
    #expect(try await !accounts.delete("a"))
    for key in ["a", "b", "c"] { try await accounts.set(key, ["n": 1]) }
    #expect(try await accounts.has("a"))
    #expect(try await accounts.hasAll(["a", "b"]))
    #expect(try await !accounts.hasAll(["a", "x"]))
    #expect(try await accounts.delete("a"))
    #expect(try await accounts.count() == 2)
    #expect(try await replica.collections() == ["accounts"])
    try await accounts.drop()
    #expect(try await accounts.count() == 0)
    #expect(try await replica.collections() == [])
    #expect(await code { try await accounts.drop() } == .notFound)
    try await accounts.set("d", ["other": 1])
    #expect(try await accounts.keys() == ["d"])
  }

  @Test("names that differ by case, accents or marks alone are different members and collections")
  func names() async throws {
    let text =
      #"{"$a":1,"A":2,"_expires":3,"_key":4,"a":5,"a\"b":7,"a$_counter":6,"#
      + "\"e\u{301}\":9,\"rowid\":8}"
    try await replica.documents("X y\"z").set("k", json: text)
    try await replica.documents("x y\"z").set("k", json: #"{"a":0}"#)
    // One document cannot have both forms of é.
    try await replica.documents("X y\"z").set("l", json: "{\"\u{e9}\":10}")
    #expect(try await replica.documents("X y\"z").json("k") == text)
    #expect(try await replica.documents("X y\"z").json("l").map { Array($0.utf8) } == Array("{\"\u{e9}\":10}".utf8))
    #expect(try await replica.collections() == ["X y\"z", "x y\"z"].sorted())
    let long = String(repeating: "m", count: 129)
    #expect(await code { try await replica.documents("c").set("k", [long: 1]) } == .invalidDocument)
    #expect(await code { try await replica.documents("").set("k", ["a": 1]) } == .invalidArgument)
    #expect(await code { try await replica.documents(long).count() } == .invalidArgument)
    #expect(await code { try await replica.documents("c").set("", ["a": 1]) } == .invalidArgument)
    #expect(try await replica.collections().count == 2)
  }

  @Test("no collection's name is that of something else that belongs to another collection")
  func noCollisions() async throws {
    let names = ["x", "x_by_expiry", "x$_by_expiry", "sqlite_x", "godwit_table", "note", "_expires", "documents_x"]
    for name in names {
      try await replica.documents(name).set("k", ["godwit_id": .string(name)], expires: .distantFuture)
    }
    #expect(try await replica.collections() == names.sorted())
    for name in names { #expect(try await replica.documents(name).get("k")?["godwit_id"] == .string(name)) }
    #expect(try await replica.maintenance.verify().isSound)
  }

  @Test("a transaction may add members to a collection it has written to, and a savepoint takes them back")
  func growthInsideATransaction() async throws {
    let things = replica.documents("things", members: [.counter("hits")])
    try await replica.write { tx in
      try things.in(tx).set("a", ["one": 1])
      try things.in(tx).set("b", ["one": 1, "two": 2])
      try things.in(tx).merge("a", ["three": 3])
      _ = try? tx.savepoint {
        try things.in(tx).set("c", ["four": 4])
        throw CancellationError()
      }
      try things.in(tx).set("d", ["five": 5])
      try things.in(tx).delete("b")
    }
    #expect(try await things.keys() == ["a", "d"])
    #expect(try await things.json("a") == #"{"hits":0,"one":1,"three":3}"#)
    #expect(try await replica.maintenance.verify().problems.isEmpty)
    await #expect(throws: GodwitError.self) { try await replica.rows("SELECT four FROM documents_things") }
  }

  @Test("a rolled back transaction leaves neither collection nor member")
  func rollback() async throws {
    let things = replica.documents("things")
    _ = await code {
      try await replica.write { tx in
        try things.in(tx).set("a", ["one": 1])
        throw GodwitError(.invalidArgument, "no")
      }
    }
    #expect(try await things.count() == 0)
    try await things.set("a", ["two": 1])
    #expect(try await things.json("a") == #"{"two":1}"#)
  }
}

extension Documents {
  fileprivate func all(in replica: Replica) async throws -> [String] { try await replica.fetch(all.json) }
}
