import Foundation
import Godwit

enum NotesOnStorageSamples {
  // begin sample
  struct Visit: Model {
    static let schema = Schema<Self>("visit") {
      Column("day", \.day)
      Column("guests", \.guests)
      Column("address", \.address)
      Timestamps(created: \.created, updated: \.updated)
    }
    var id = RecordID<Visit>()
    var day = Date(timeIntervalSinceReferenceDate: 0)
    var guests = 1
    var address = Address()
    var created = Timestamp()
    var updated = Timestamp()
  }

  struct Address: JSONColumnValue, Validatable {
    var street = ""
    var city = ""
    var violations: [GodwitError.Violation] {
      GodwitError.Violation.check("street", street, .length(...60))
        + GodwitError.Violation.check("city", city, .presence)
        + (street == city ? [GodwitError.Violation("must name two places")] : [])
    }
  }
  // end sample

  static func run() async throws {
    // begin sample
    let replica = try await Replica.open(at: "visits", models: Visit.self)
    let day = Date(timeIntervalSinceReferenceDate: 86_400)
    try await replica.write { try $0.insert(Visit(day: day, address: Address(street: "Quay 1", city: "Bergen"))) }

    let found = try await replica.rows(
      "SELECT datetime(day + 978307200, 'unixepoch') AS day FROM visit WHERE day >= \(day)")
    print(found[0]["day"] ?? .null)  // text("2001-01-02 00:00:00")
    // end sample
    // begin sample
    do {
      try await replica.write { try $0.insert(Visit(address: Address(street: "", city: ""))) }
    } catch let error as GodwitError where error.code == .validationFailed {
      for violation in error.violations { print(violation) }
      // address.city must not be empty
      // address must name two places
    }
    // end sample
    // begin sample
    let byGuests = Visit.order(by: \.guests, .descending)
    let sorted = byGuests.order(by: \.day)  // the most guests first; of as many, the earliest day
    print(try sorted.sql.text)  // SELECT … ORDER BY `guests` DESC, `day`
    // end sample
    // begin sample
    try await replica.write { transaction in
      try transaction.execute("CREATE TABLE app_seen (visit BLOB PRIMARY KEY, at INTEGER NOT NULL)")
      try transaction.execute("INSERT INTO app_seen SELECT id, created_at FROM visit")
    }
    let seen = try await replica.rows("SELECT count(*) AS count FROM app_seen")
    // end sample
    try expect(found[0]["day"] == "2001-01-02 00:00:00", seen[0]["count"] == 1)
    try expect(try sorted.sql.text.hasSuffix("ORDER BY `guests` DESC, `day`"))
    await replica.close()
  }
}
