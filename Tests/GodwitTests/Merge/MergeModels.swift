import Godwit

/// A row with a column of every policy.
struct Page: Model {
  static let schema = Schema<Self>("page") {
    Column("title", \.title)
    Column("views", \.views, merge: .counter)
    Column("tags", \.tags, merge: .addWinsSet)
    Column("best", \.best, merge: .max)
    Column("first", \.first, merge: .min)
    Column(
      "note", \.note, merge: .custom("longer") { $0.count == $1.count ? max($0, $1) : $0.count > $1.count ? $0 : $1 })
  }
  var id = ""
  var title = ""
  var views = 0
  var tags: Set<String> = []
  var best = 0
  var first: Int?
  var note = ""
}

/// Deletes win.
struct Session: Model {
  static let schema = Schema<Self>("session", deletes: .deleteWins) {
    Column("user", \.user)
    Column("hits", \.hits, merge: .counter)
  }
  var id = ""
  var user = ""
  var hits = 0
}

/// Deletes win, and there is nothing beside the key.
struct Mark: Model {
  static let schema = Schema<Self>("mark", deletes: .deleteWins) {}
  var id = ""
}

/// A unique value and a unique pair.
struct Login: Model {
  static let schema = Schema<Self>("account") {
    Column("email", \.email).unique()
    Column("realm", \.realm)
    Column("login", \.login)
    Column("plan", \.plan)
    Index(\.realm, \.login).unique()
  }
  var id = ""
  var email: String?
  var realm = ""
  var login: String?
  var plan = ""
}

struct Bookcase: Model {
  static let schema = Schema<Self>("shelf") { Column("name", \.name) }
  var id = ""
  var name = ""
}

/// Goes with its shelf, forbids its shelf to go, or stays without.
struct Volume: Model {
  static let schema = Schema<Self>("volume") {
    Column("shelf", \.shelf).references(Bookcase.self, onDelete: .cascade)
    Column("owner", \.owner).references(Bookcase.self, onDelete: .restrict)
    Column("lent", \.lent).references(Bookcase.self, onDelete: .setNull)
    Column("title", \.title)
  }
  var id = ""
  var shelf: String?
  var owner: String?
  var lent: String?
  var title = ""
}

struct Leaf: Model {
  static let schema = Schema<Self>("leaf") {
    Column("volume", \.volume).references(Volume.self, onDelete: .cascade)
  }
  var id = ""
  var volume: String?
}

/// A tree.
struct Twig: Model {
  static let schema = Schema<Self>("branch") {
    Column("parent", \.parent).references(Twig.self, onDelete: .setNull, acyclic: true)
    Column("name", \.name)
  }
  var id = ""
  var parent: String?
  var name = ""
}
