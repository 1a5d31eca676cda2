import Foundation
import Godwit
import Synchronization

/// A flat document of ten members, as a model.
struct FlatRow: Model {
  static let schema = Schema<Self>("flat") {
    Column("name", \.name)
    Column("city", \.city)
    Column("mail", \.mail)
    Column("note", \.note)
    Column("views", \.views)
    Column("stock", \.stock)
    Column("price", \.price)
    Column("weight", \.weight)
    Column("active", \.active)
    Column("rank", \.rank)
  }
  var id = ""
  var name = ""
  var city = ""
  var mail = ""
  var note = ""
  var views = 0
  var stock = 0
  var price = 0.0
  var weight = 0.0
  var active = false
  var rank = 0

  static func make(_ count: Int, run: Int) -> [FlatRow] {
    let words = ["river", "stone", "harbour", "quiet", "ninety", "window", "bread", "north", "paper", "kestrel"]
    var generator = SplitMix64(state: 42)
    func word() -> String { words[Int(generator.next() % 10)] }
    return (0..<count).map { index in
      FlatRow(
        id: "run-\(run)-\(index)", name: "\(word()) \(word())", city: word(), mail: "\(word())@\(word()).example",
        note: (0..<6).map { _ in word() }.joined(separator: " "), views: Int(generator.next() % 10_000),
        stock: Int(generator.next() % 100), price: Double(generator.next() % 10_000) / 100 + 0.005,
        weight: Double(generator.next() % 1_000) / 8 + 0.1, active: generator.next() % 2 == 0, rank: index)
    }
  }

  /// The row as a program has it that reads JSON.
  var json: String {
    #"{"name":"\#(name)","city":"\#(city)","mail":"\#(mail)","note":"\#(note)","views":\#(views),"stock":\#(stock),"#
      + #""price":\#(price),"weight":\#(weight),"active":\#(active),"rank":\#(rank)}"#
  }
}

/// Rows and their texts for one run after another, each with keys of its own.
final class FlatSource: Sendable {
  struct Rows: Sendable {
    let rows: [FlatRow]
    let texts: [String]
  }

  private let count: Int
  private let state: Mutex<(run: Int, rows: Rows)>

  init(_ count: Int) {
    self.count = count
    state = Mutex((0, Self.make(count, 0)))
  }

  var current: Rows { state.withLock { $0.rows } }

  /// Makes the next run's rows; not part of any timed run.
  func renew() { state.withLock { $0 = ($0.run + 1, Self.make(count, $0.run + 1)) } }

  private static func make(_ count: Int, _ run: Int) -> Rows {
    let rows = FlatRow.make(count, run: run)
    return Rows(rows: rows, texts: rows.map(\.json))
  }
}
