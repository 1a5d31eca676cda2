import Foundation
import Godwit
import Synchronization

/// The rows every benchmark works on: key, two texts, an integer and a date.
protocol BenchModel: Model where ID == RecordID<Self> {
  var title: String { get set }
  var body: String { get set }
  var views: Int { get set }
  var created: Date { get set }
}

/// Captured in the change log.
struct CapturedRow: BenchModel {
  static let schema = Schema<Self>("captured") {
    Column("title", \.title)
    Column("body", \.body)
    Column("views", \.views)
    Column("created", \.created)
  }
  var id = RecordID<CapturedRow>()
  var title = ""
  var body = ""
  var views = 0
  var created = Date(timeIntervalSinceReferenceDate: 0)
}

/// The same columns, never captured.
struct LocalRow: BenchModel {
  static let schema = Schema<Self>("uncaptured", sync: .local) {
    Column("title", \.title)
    Column("body", \.body)
    Column("views", \.views)
    Column("created", \.created)
  }
  var id = RecordID<LocalRow>()
  var title = ""
  var body = ""
  var views = 0
  var created = Date(timeIntervalSinceReferenceDate: 0)
}

extension BenchModel {
  /// Rows as an application has them: words of prose, counts and times.
  static func make(_ count: Int) -> [Self] {
    let words = ["river", "stone", "harbour", "quiet", "ninety", "window", "bread", "north", "paper", "kestrel"]
    var generator = SplitMix64(state: 42)
    return (0..<count).map { index in
      var row = Self()
      row.title = "note \(index) about \(words[Int(generator.next() % 10)]) and \(words[Int(generator.next() % 10)])"
      row.body = (0..<8).map { _ in words[Int(generator.next() % 10)] }.joined(separator: " ")
      row.views = Int(generator.next() % 10_000)
      row.created = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(index) * 1.5)
      return row
    }
  }
}

/// Rows for one run after another, each with keys of its own: both sides' tables grow from run to run, and neither
/// fills the room that deleted rows left, which would spare it the growth of the file.
final class RowSource<Row: BenchModel>: Sendable {
  private let count: Int
  private let rows: Mutex<[Row]>

  init(_ count: Int) {
    self.count = count
    rows = Mutex(Row.make(count))
  }

  var current: [Row] { rows.withLock { $0 } }

  /// Makes the next run's rows; not part of any timed run.
  func renew() { rows.withLock { $0 = Row.make(count) } }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014: the same rows in every run.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

func openReplica(_ context: BenchContext, _ name: String) async throws -> Replica {
  try await Replica.open(at: "\(context.folder)/\(name)", models: CapturedRow.self, LocalRow.self)
}

/// As little as a row may be.
struct PlainRow: Model {
  static let schema = Schema<Self>("plain") { Column("x", \.x) }
  var id = 0
  var x: Int?
}
