import Foundation
import Godwit

enum JSONDocumentsSamples {
  // begin sample
  struct Account: DocumentObject {
    static let collection = "accounts"
    var key: String
    var name: String
    var active: Bool
    var since: Date?
  }
  // end sample

  static func run() async throws {
    let replica = try await Replica.open(at: "accounts")

    // begin sample
    let accounts = replica.documents("accounts")
    try await accounts.set("ada", ["name": "Ada", "price": 12, "tags": ["new"], "active": true])
    try await accounts.set("bob", json: #"{"name": "Bob", "price": 3.5, "address": {"city": "Rome"}}"#)

    let ada = try await accounts.get("ada")  // [String: JSON]
    let text = try await accounts.json("bob")  // {"address":{"city":"Rome"},"name":"Bob","price":3.5}
    let rows = try await replica.rows("SELECT name FROM documents_accounts WHERE price > 10")
    // end sample
    try expect(ada?["price"] == 12, text == #"{"address":{"city":"Rome"},"name":"Bob","price":3.5}"#)
    try expect(rows.map { $0["name"] } == ["Ada"])

    // begin sample
    try await accounts.merge("ada", ["price": 15, "tags": nil])  // the name stays, the tags go
    try await accounts.set("bob", ["name": "Bob"])  // everything else goes
    // end sample
    try expect(try await accounts.json("ada") == #"{"active":true,"name":"Ada","price":15}"#)
    try expect(try await accounts.json("bob") == #"{"name":"Bob"}"#)

    // begin sample
    let dear = try await accounts.keys { $0.price > 10 && $0["name"].contains("A") }
    let same = try await accounts.keys(where: "price > 10 and name contains 'A'", order: "name, price desc")
    let page = try await replica.fetch(accounts.where { $0.active == true }.order(by: "name").limit(20))
    // end sample
    try expect(dear == ["ada"], same == dear, page.map(\.key) == ["ada"])

    // begin sample
    let stats = replica.documents("stats", members: [.counter("hits"), .set("tags")])
    try await stats.add(1, to: "hits", of: "start page")
    try await stats.insert("popular", into: "tags", of: "start page")
    // end sample
    try expect(try await stats.json("start page") == #"{"hits":1,"tags":["popular"]}"#)

    // begin sample
    let people = replica.documents(of: Account.self)
    try await people.save(Account(key: "eve", name: "Eve", active: true, since: Date()))
    let eve = try await people.get("eve")
    let active = try await replica.fetch(people.where { $0.active == true && $0.key.exists })
    let since = try await accounts.get("eve")?["since"]?.dateValue
    // end sample
    try expect(eve?.name == "Eve", active.count == 1, since == eve?.since)

    // begin sample
    let sessions = replica.documents("sessions")
    try await sessions.set("s1", ["user": "ada"], expires: Date(timeIntervalSinceNow: 3_600))
    try await sessions.expire("s1", at: Date(timeIntervalSinceNow: -1))
    let gone = try await sessions.get("s1")  // nil, here and on every replica
    // end sample
    try expect(gone == nil)

    // begin sample
    let live: SQL = "SELECT count(*) AS count FROM (\(try sessions.all.sql)) WHERE user = \("ada")"
    let counts = try await replica.rows(live)
    // end sample
    try expect(counts.first?["count"] == 0)

    // begin sample
    try await accounts.set("cy", ["price": 2])
    try await replica.write { tx in
      try tx.execute(
        """
        UPDATE documents_accounts
        SET price = CASE WHEN price * 0.5 = CAST(price * 0.5 AS INTEGER)
          THEN CAST(price * 0.5 AS INTEGER) ELSE price * 0.5 END
        WHERE _key = 'cy'
        """)
    }
    let half = try await accounts.get("cy")?["price"]  // 1; without the CASE it would be true
    // end sample
    try expect(half == 1)

    // begin sample
    try await replica.write { tx in
      let accounts = accounts.in(tx)
      let price = try accounts.get("ada")?["price"]?.integerValue ?? 0
      try accounts.merge("ada", ["price": .integer(price + 1)])
      try accounts.delete("bob")
    }
    // end sample
    try expect(try await accounts.get("ada")?["price"] == 16)
    await replica.close()
  }
}
