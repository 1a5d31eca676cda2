import Godwit
import Synchronization

/// What hooks did, in order. A class in an unstored property, so that every test has its own.
final class Trace: Sendable {
  private let entries = Mutex<[String]>([])
  var all: [String] { entries.withLock { $0 } }
  func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  func clear() { entries.withLock { $0.removeAll() } }
}

/// Writes down every call; its title states what it does.
struct Traced: ModelHooks {
  static let schema = Schema<Self>("traced") {
    Column("title", \.title)
    Column("slug", \.slug)
    Column("saves", \.saves)
    Validate(\.slug, .presence)
    Validate("must pass") { model in
      model.trace?.add("validation")
      return model.title != "invalid"
    }
  }
  var id = RecordID<Traced>()
  var title = ""
  var slug = ""
  var saves = 0
  var trace: Trace?
  /// Not stored; made of what is.
  var display = ""

  private func note(_ hook: String, _ transaction: Transaction) throws {
    trace?.add(hook)
    try transaction.insert(Audit(text: "\(hook) \(title)"))
    if title == "refused by \(hook)" { throw Refusal() }
  }

  mutating func willSave(_ transaction: Transaction) throws {
    slug = title.lowercased()
    saves += 1
    try note("willSave", transaction)
  }
  func didSave(_ transaction: Transaction) throws { try note("didSave", transaction) }
  mutating func willInsert(_ transaction: Transaction) throws { try note("willInsert", transaction) }
  func didInsert(_ transaction: Transaction) throws { try note("didInsert", transaction) }
  mutating func willUpdate(_ transaction: Transaction) throws { try note("willUpdate", transaction) }
  func didUpdate(_ transaction: Transaction) throws { try note("didUpdate", transaction) }
  func willDelete(_ transaction: Transaction) throws { try note("willDelete", transaction) }
  func didDelete(_ transaction: Transaction) throws { try note("didDelete", transaction) }
  mutating func didLoad() { display = "\(title)/\(slug)" }
}

struct Refusal: Error {}

struct Audit: Model {
  static let schema = Schema<Self>("audit") { Column("text", \.text) }
  var id = RecordID<Audit>()
  var text = ""
}

/// Inserts the next, one deeper, until none is left.
struct Chained: ModelHooks {
  static let schema = Schema<Self>("chained") { Column("left", \.left) }
  var id = RecordID<Chained>()
  var left = 0

  func didInsert(_ transaction: Transaction) throws {
    if left > 0 { try transaction.insert(Chained(left: left - 1)) }
  }
  /// Never ends.
  func willDelete(_ transaction: Transaction) throws { try transaction.delete(self) }
}

/// Deletes itself before it is deleted.
struct Hasty: ModelHooks {
  static let schema = Schema<Self>("hasty") { Column("left", \.left) }
  var id = RecordID<Hasty>()
  var left = 0
  func willDelete(_ transaction: Transaction) throws {
    _ = try transaction.execute("DELETE FROM hasty")
  }
  func didDelete(_ transaction: Transaction) throws { throw Refusal() }
}

/// Listens to loading alone.
struct Loaded: LoadHook {
  static let schema = Schema<Self>("loaded") { Column("text", \.text) }
  var id = ""
  var text = ""
  var words: [String] = []
  mutating func didLoad() { words = text.split(separator: " ").map(String.init) }
}

/// Makes a collection and drops a trigger, and refuses then.
struct Doubtful: ModelHooks {
  static let schema = Schema<Self>("doubtful") {}
  static let documents = Mutex<Documents?>(nil)
  var id = RecordID<Doubtful>()

  func didInsert(_ transaction: Transaction) throws {
    try Self.documents.withLock { $0 }?.in(transaction).set("a", ["fresh": 1])
    try transaction.execute("DROP TRIGGER own")
    throw GodwitError(.invalidArgument, "no")
  }
}
