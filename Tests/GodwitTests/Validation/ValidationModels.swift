import Godwit

struct Address: JSONColumnValue, Validatable, Equatable {
  var city = "Oslo"
  var code = "0150"
  var tags: [Tag]?
  var violations: [GodwitError.Violation] {
    GodwitError.Violation.check("city", city, .presence, .length(...20))
      + GodwitError.Violation.check("code", code, .matches("[0-9]{4}"))
      + GodwitError.Violation.check("tags", tags)
  }
}

struct Tag: Codable, Validatable, Equatable {
  var name = "tag"
  var violations: [GodwitError.Violation] {
    GodwitError.Violation.check("name", name, .presence) + (name == "?" ? [GodwitError.Violation("is no tag")] : [])
  }
}

struct OrderLine: Codable, Validatable, Equatable {
  var amount = 1
  var violations: [GodwitError.Violation] { GodwitError.Violation.check("amount", amount, .range(1...)) }
}

struct Order: Model {
  static let schema = Schema<Self>("order") {
    Column("title", \.title)
    Column("contact", \.contact)
    Column("rating", \.rating)
    Column("state", \.state)
    Column("start", \.start)
    Column("end", \.end)
    Column("labels", \.labels)
    Column("address", \.address)
    Column("billing", \.billing)
    Column("lines", \.lines)
    Validate(\.title, .presence, .length(1...10))
    Validate(\.title, "must not shout") { $0 != $0.uppercased() || $0.isEmpty }
    Validate(\.contact, .matches("[^@]+@[^@]+"), .length(...20))
    Validate(\.rating, .range(0...10))
    Validate(\.state, .inclusion(["open", "done"]))
    Validate(\.labels, .length(..<3))
    Validate("password", \.password, .length(8...))
    Validate("end must not be before start") { $0.start <= $0.end }
  }
  var id = RecordID<Order>()
  var title = "order"
  var contact: String?
  var rating: Double?
  var state = "open"
  var start = 0
  var end = 0
  var labels: [String] = []
  var address = Address()
  var billing: Address?
  var lines: [OrderLine] = []
  /// Judged, never stored.
  var password = "long enough"
}

/// Every property must be there.
struct Complete: Model {
  static let schema = Schema<Self>("complete") {
    Column("text", \.text)
    Column("maybe", \.maybe)
    Column("list", \.list)
    Column("map", \.map)
    Column("number", \.number)
    Validate(\.text, .presence)
    Validate(\.maybe, .presence)
    Validate(\.list, .presence)
    Validate(\.map, .presence)
    Validate(\.number, .presence)
  }
  var id = RecordID<Complete>()
  var text = ""
  var maybe: String?
  var list: [Int] = []
  var map: [String: Int]?
  var number: Int?
}

struct Seat: Model {
  static let schema = Schema<Self>("seat") {
    Column("code", \.code)
    Column("guest", \.guest)
    Column("room", \.room)
    Column("number", \.number)
    Validate(\.code, .uniqueness)
    Validate(\.guest, .uniqueness)
    Validate(\.number, .uniqueness(scope: \.room))
    Index(\.code)
  }
  var id = RecordID<Seat>()
  var code = ""
  var guest: String?
  var room: String?
  var number = 0
}

struct Unlisted: Model {
  static let schema = Schema<Self>("unlisted") { Validate(\.title, .presence) }
  var id = ""
  var title = ""
}

struct UniqueUnlisted: Model {
  static let schema = Schema<Self>("unique_unlisted") { Validate("title", \.title, .uniqueness) }
  var id = ""
  var title = ""
}

struct BadPattern: Model {
  static let schema = Schema<Self>("bad_pattern") {
    Column("title", \.title)
    Validate(\.title, .matches("[a-"))
  }
  var id = ""
  var title = ""
}

/// Has violations of its own beside those of its rules.
struct Parcel: Model, Validatable {
  static let schema = Schema<Self>("parcel") {
    Column("label", \.label)
    Column("weight", \.weight)
    Validate(\.label, .ifPresent(.presence))
    Validate(\.weight, .even)
  }
  var id = RecordID<Parcel>()
  var label: String?
  var weight = 0
  var violations: [GodwitError.Violation] {
    label != nil && weight == 3 ? [GodwitError.Violation("weight and label do not go together")] : []
  }
}

extension ValidationRule where Property == Int {
  static var even: Self { Self("must be even") { $0.isMultiple(of: 2) } }
}
