import Godwit
import GodwitBase
import GodwitCore

/// All writes to one row, and what they make of it by the definitions of Specs/merge.md: no state, no order of arrival.
struct RowHistory {
  struct Write {
    let transaction: HistoricTransaction
    let kind: HistoricOperation.Kind

    var dot: Dot { transaction.dot }
    var stamp: Stamp { Stamp(transaction) }
    var isInsert: Bool { if case .insert = kind { true } else { false } }
    var isDelete: Bool { if case .delete = kind { true } else { false } }

    /// Whether its author held the other.
    func saw(_ other: Write) -> Bool { dot != other.dot && transaction.context.covers(other.dot) }

    func precedes(_ other: Write) -> Bool { stamp < other.stamp }

    /// What it does to a column; nil when nothing.
    func change(of column: Int) -> HistoricOperation.Change? {
      switch kind {
      case .insert(let row): return .value(row[column])
      case .update(let changes): return changes[column]
      case .delete: return nil
      }
    }

  }

  struct Stamp: Comparable {
    let hlc: HLC
    let dot: Dot

    init(_ transaction: HistoricTransaction) { (hlc, dot) = (transaction.hlc, transaction.dot) }

    static func < (left: Stamp, right: Stamp) -> Bool {
      (left.hlc, left.dot.origin, left.dot.sequence) < (right.hlc, right.dot.origin, right.dot.sequence)
    }
  }

  let name: RowName
  /// Causes first.
  var writes: [Write] = []
  /// The schema version of who shows it.
  var version = 0
  var shape: TableShape { TableShape.all[name.table] }

  var touches: [Write] { writes.filter { !$0.isDelete } }
  var deletes: [Write] { writes.filter(\.isDelete) }

  /// A row is there once it has been inserted. A delete removes what it saw; where deletes win, only an insert that saw
  /// it undoes it.
  var isAlive: Bool {
    guard touches.contains(where: \.isInsert) else { return false }
    if shape.isDeleteWins {
      return deletes.allSatisfy { delete in touches.contains { $0.isInsert && $0.saw(delete) } }
    }
    return touches.contains { touch in !deletes.contains { $0.saw(touch) } }
  }

  /// An insert whose author had not got a column with a policy says nothing of it.
  func writes(of column: Int) -> [Write] {
    let shape = shape.columns[column]
    return writes.filter { write in
      let isKnown = shape.policy == .lastWriterWins || shape.versions.lowerBound <= write.transaction.version
      return write.change(of: column) != nil && isKnown
    }
  }

  /// The write whose value a column has, where the last writer wins: the greatest.
  func last(_ column: Int) -> Write? { writes(of: column).max { $0.precedes($1) } }

  /// The row as it is, shown or not.
  var values: [Value] {
    shape.columns.indices.map { $0 < shape.keyCount ? name.key[$0] : value(of: $0) }
  }

  private func value(of column: Int) -> Value {
    let all = writes(of: column)
    if all.isEmpty { return shape.columns[column].begun(at: version) }
    /// A write that an insert saw is taken back by it.
    let kept = all.filter { write in !all.contains { $0.isInsert && $0.saw(write) } }
    switch shape.columns[column].policy {
    case .lastWriterWins:
      guard case .value(let value)? = last(column)?.change(of: column) else { return .null }
      return value
    case .counter:
      // Of a row that was inserted by nobody who had the column.
      guard case .integer(let start) = all.contains(where: \.isInsert) ? 0 : shape.columns[column].begun(at: version)
      else {
        return .null
      }
      return .integer(kept.reduce(start) { $0 &+ Self.difference($1.change(of: column)) })
    case .set:
      return SetText.text(elements(column, kept, of: all))
    case .maximum, .minimum, .longest:
      let heads = all.filter { write in !all.contains { $0.saw(write) } }
      return choice(
        heads.compactMap { if case .value(let value)? = $0.change(of: column) { value } else { nil } }, column)
    }
  }

  private static func difference(_ change: HistoricOperation.Change?) -> Int64 {
    switch change {
    case .sum(let number), .value(.integer(let number)): number
    default: 0
    }
  }

  /// Who adds an element anew, or removes it, takes the place of the additions that it has seen. That stays so for an
  /// author who had seen that, and not them, as hostile contexts say.
  private func elements(_ column: Int, _ kept: [Write], of all: [Write]) -> Set<String> {
    var present: Set<String> = []
    for write in kept {
      let added: Set<String>
      switch write.change(of: column) {
      case .value(let value): added = SetText.elements(value)
      case .elements(let elements, _): added = elements
      default: added = []
      }
      present.formUnion(
        added.filter { element in
          !all.contains { other in
            guard other.saw(write), case .elements(let added, let removed)? = other.change(of: column) else {
              return false
            }
            return added.contains(element) || removed.contains(element)
          }
        })
    }
    return present
  }

  private func choice(_ values: [Value], _ column: Int) -> Value {
    let values = values.filter { $0 != .null }
    switch shape.columns[column].policy {
    case .maximum: return Self.integers(values).max().map { .integer($0) } ?? .null
    case .minimum: return Self.integers(values).min().map { .integer($0) } ?? .null
    default:
      let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
      return texts.dropFirst().reduce(texts.first) { best, text in best.map { Tally.longer($0, text) } }.map {
        .text($0)
      } ?? .null
    }
  }

  private static func integers(_ values: [Value]) -> [Int64] {
    values.compactMap { if case .integer(let number) = $0 { number } else { nil } }
  }
}

extension RowHistory.Write {
  /// What was written, by whom, upon what; for messages.
  var text: String {
    let what =
      switch kind {
      case .insert(let row): "insert (\(row.map(\.text).joined(separator: ", ")))"
      case .update(let changes):
        "update \(changes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))"
      case .delete: "delete"
      }
    return "\(what) by \(VersionVector([dot.origin: dot.sequence]).text) at \(transaction.hlc.milliseconds) "
      + "in version \(transaction.version) upon \(transaction.context.text)"
  }
}
