import Godwit

// The tables of the simulation. Keys and values are few, so that replicas meet; between them the tables have every
// merge policy, unique indexes, references of each kind, and circles.

/// A column of every policy.
struct Tally: Model {
  static let schema = Schema<Self>("tally") {
    Column("word", \.word)
    Column("ratio", \.ratio)
    Column("views", \.views, merge: .counter)
    Column("tags", \.tags, merge: .addWinsSet)
    Column("high", \.high, merge: .max)
    Column("low", \.low, merge: .min)
    Column("longest", \.longest, merge: .custom("longest") { Tally.longer($0, $1) })
  }
  var id = ""
  var word = ""
  var ratio: Double?
  var views = 0
  var tags: Set<String> = []
  var high = 0
  var low = 0
  var longest = ""

  /// The longer text; of two as long the greater.
  static func longer(_ left: String, _ right: String) -> String {
    let (a, b) = (left.utf8.count, right.utf8.count)
    if a != b { return a > b ? left : right }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? right : left
  }
}

/// The same from version 3 on.
struct LaterTally: Model {
  static let schema = Schema<Self>("tally") {
    Column("word", \.word)
    Column("ratio", \.ratio)
    Column("views", \.views, merge: .counter)
    Column("tags", \.tags, merge: .addWinsSet)
    Column("high", \.high, merge: .max)
    Column("low", \.low, merge: .min)
    Column("longest", \.longest, merge: .custom("longest") { Tally.longer($0, $1) })
    Column("peak", \.peak, merge: .max)
  }
  var id = ""
  var word = ""
  var ratio: Double?
  var views = 0
  var tags: Set<String> = []
  var high = 0
  var low = 0
  var longest = ""
  var peak: Int?
}

/// One unique column, and two that are unique together.
struct Guest: Model {
  static let schema = Schema<Self>("guest") {
    Column("name", \.name).unique()
    Column("room", \.room)
    Column("bed", \.bed)
    Column("note", \.note)
    Index(\.room, \.bed).unique()
  }
  var id = ""
  var name = ""
  var room = 0
  var bed: Int?
  var note = ""
}

/// The top of three tables; refers to a row of the second, which refers to it.
struct Shelf: Model {
  static let schema = Schema<Self>("shelf") {
    Column("label", \.label)
    Column("favorite", \.favorite).references(Book.self, onDelete: .setNull)
  }
  var id = ""
  var label = ""
  var favorite: Book.ID?
}

/// Goes with its shelf.
struct Book: Model {
  static let schema = Schema<Self>("book") {
    Column("shelf", \.shelf).references(Shelf.self, onDelete: .cascade)
    Column("title", \.title).unique()
    Index(\.shelf)
  }
  var id = ""
  var shelf = ""
  var title: String?
}

/// Outlives its book, which is lent once at a time, and keeps its guest from being deleted.
struct Loan: Model {
  static let schema = Schema<Self>("loan") {
    Column("book", \.book).references(Book.self, onDelete: .setNull).unique()
    Column("guest", \.guest).references(Guest.self, onDelete: .restrict)
    Column("days", \.days, merge: .counter)
  }
  var id = ""
  var book: Book.ID?
  var guest: Guest.ID?
  var days = 0
}

/// Rows that go together: each may need another, also in circles.
struct Dancer: Model {
  static let schema = Schema<Self>("dancer") {
    Column("partner", \.partner).references(Dancer.self, onDelete: .cascade)
    Column("step", \.step)
  }
  var id = ""
  var partner: String?
  var step = 0
}

/// A tree in which no two children of one parent have one label.
struct Leaf: Model {
  static let schema = Schema<Self>("leaf") {
    Column("parent", \.parent).references(Leaf.self, onDelete: .setNull, acyclic: true)
    Column("label", \.label)
    Index(\.parent, \.label).unique()
  }
  var id = ""
  var parent: String?
  var label = ""
}

/// A tree whose branches go with their parents.
struct Twig: Model {
  static let schema = Schema<Self>("twig") {
    Column("parent", \.parent).references(Twig.self, onDelete: .cascade, acyclic: true)
    Column("code", \.code).unique()
  }
  var id = ""
  var parent: String?
  var code: String?
}

/// Deletes win.
struct Ticket: Model {
  static let schema = Schema<Self>("ticket", deletes: .deleteWins) {
    Column("state", \.state)
    Column("votes", \.votes, merge: .counter)
    Column("labels", \.labels, merge: .addWinsSet)
    Column("rank", \.rank, merge: .max)
  }
  var id = ""
  var state = ""
  var votes = 0
  var labels: Set<String> = []
  var rank = 0
}

/// A key of two columns.
struct Seat: Model {
  static let schema = Schema<Self>("seat") {
    Key(Column("row", \.row), Column("number", \.number))
    Column("holder", \.holder)
    Column("price", \.price, merge: .min)
  }
  var row = ""
  var number = 0
  var holder: String?
  var price = 0
  var id: PairKey<String, Int> {
    get { PairKey(row, number) }
    set { (row, number) = (newValue.first, newValue.second) }
  }
}

/// Never leaves its replica.
struct Scratch: Model {
  static let schema = Schema<Self>("scratch", sync: .local) { Column("owner", \.owner) }
  var id = ""
  var owner = 0
}

enum SimulatedModels {
  /// Some worlds come to version 1 replica by replica, some to one of the later ones. Versions 1 and 3 are additions,
  /// the others barriers. The model knows from ``TableShape`` what the steps do.
  private static let migrations = Migrations {
    Migration.addition(1, "moods") {
      $0.alter("guest") { $0.add("mood", Int.self, default: 3) }
      $0.alter("ticket") { $0.add("stars", Int.self, default: 0, merge: .counter) }
      $0.alter("leaf") { $0.addIndex("label") }
      $0.alter("twig") { $0.add("rings", Int.self, default: 0, merge: .counter) }
    }
    Migration(2, "forms") {
      $0.alter("shelf") { $0.rename("label", to: "caption") }
      $0.alter("dancer") { $0.change("step", String.self, default: "") }
      $0.alter("book") { $0.add("size", Int?.self, from: "title", by: "length(title)") }
      $0.alter("seat") { $0.drop("holder") }
      $0.alter("guest") { $0.dropIndex("room", "bed") }
      $0.rename("ticket", to: "voucher")
      $0.run("cheer up", "UPDATE guest SET mood = mood + 10 WHERE mood < \(goodMood)")
    }
    Migration.addition(3, "places") {
      $0.alter("tally") { $0.add("peak", Int?.self, merge: .max) }
      $0.alter("leaf") { $0.add("owner", String?.self, references: "guest", onDelete: .setNull) }
      $0.alter("twig") { $0.add("bark", String.self, default: "plain") }
      $0.create("badge") {
        $0.column("id", String.self)
        $0.column("text", String.self)
        $0.column("points", Int.self, merge: .counter)
        $0.column("wearer", String?.self, references: "guest", onDelete: .cascade)
        $0.index("text", unique: true)
      }
    }
    Migration(4, "words") {
      $0.alter("tally") {
        $0.change("word", String.self, default: "", by: "CASE word WHEN 'bravo' THEN 'alpha' ELSE word END")
      }
      $0.stopSync(of: "seat")
      $0.startSync(of: "scratch")
    }
    Migration(5, "fewer") {
      $0.alter("guest") { $0.change("bed", Int.self, default: 0) }
      $0.alter("shelf") {
        $0.change("caption", String?.self)
        $0.addIndex("caption", unique: true)
      }
      $0.drop("seat")
      $0.drop("voucher")
    }
  }

  /// What the data step of version 2 makes of every guest's mood, at least.
  static let goodMood = 10

  static func migrations(at version: Int) -> Migrations { version == 0 ? .none : migrations.through(version) }

  /// Those that fit their tables then.
  static func models(at version: Int) -> [any Model.Type] {
    switch version {
    case 0, 1:
      [
        Tally.self, Guest.self, Shelf.self, Book.self, Loan.self, Dancer.self, Leaf.self, Ticket.self, Seat.self,
        Twig.self, Scratch.self,
      ]
    case 2: [Tally.self, Loan.self, Scratch.self]
    case 3: [LaterTally.self, Loan.self, Scratch.self]
    default: [LaterTally.self, Loan.self]
    }
  }
}
