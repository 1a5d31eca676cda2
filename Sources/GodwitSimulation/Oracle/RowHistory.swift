import Godwit
import GodwitBase
import GodwitReplication

/// All writes to one row, and what they make of it by the definitions of Specs/merge.md: no state, no order of arrival.
struct RowHistory {
  struct Write {
    let transaction: HistoricTransaction
    let kind: HistoricOperation.Kind
    /// Written under a key the row had before: what follows it here.
    var path: Path?
    /// It goes on under another key, and keeps no row alive under this one.
    var goesOn = false

    /// How a write that follows a row came here.
    struct Path {
      /// The timestamps of the moves that it followed, the first first.
      let moves: [Stamp]
      var move: Stamp? { moves.last }
      /// The columns of which it brings the value.
      let columns: Set<Int>
    }

    var dot: Dot { transaction.dot }
    var stamp: Stamp { Stamp(transaction) }
    var isInsert: Bool {
      switch kind {
      case .insert, .arrive: true
      case .update, .delete, .leave: false
      }
    }
    var isDelete: Bool {
      switch kind {
      case .delete, .leave: true
      case .insert, .arrive, .update: false
      }
    }
    /// Whether the row is there because of it. An insert stays where it was made.
    var isTouch: Bool { !isDelete && !goesOn && !(isInsert && path != nil) }

    /// Whether its author held the other.
    func saw(_ other: Write) -> Bool { dot != other.dot && transaction.context.covers(other.dot) }

    /// Whether its author held the other, in the row that was written: of what a move had brought there the move, too.
    /// What follows a row found what came the same way from there on.
    func sawHere(_ other: Write) -> Bool {
      guard saw(other) else { return false }
      let (own, others) = (path?.moves ?? [], other.path?.moves ?? [])
      guard others.suffix(own.count) == own[...] else { return false }
      return others.dropLast(own.count).last.map { transaction.context.covers($0.dot) } ?? true
    }

    func precedes(_ other: Write) -> Bool { stamp < other.stamp }

    /// What it does to a column; nil when nothing.
    func change(of column: Int) -> HistoricOperation.Change? {
      if let path, !path.columns.contains(column) { return nil }
      switch kind {
      case .insert(let row), .arrive(let row, _): return .value(row[column])
      case .update(let changes): return changes[column]
      case .delete, .leave: return nil
      }
    }

    /// Whether it is a move that brings the column as it was.
    func carries(_ column: Int) -> Bool {
      if case .arrive(_, let changed) = kind { !changed.contains(column) } else { false }
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
  /// Whether a row came here from another key, or went to one.
  var hasMoves: Bool {
    writes.contains { write in
      switch write.kind {
      case .leave, .arrive: true
      default: write.path != nil
      }
    }
  }

  var touches: [Write] { writes.filter(\.isTouch) }
  var deletes: [Write] { writes.filter(\.isDelete) }

  /// A delete removes what it saw; where deletes win, only an insert that saw it undoes it.
  var isAlive: Bool {
    if shape.isDeleteWins {
      return !touches.isEmpty && deletes.allSatisfy { delete in touches.contains { $0.isInsert && $0.saw(delete) } }
    }
    return touches.contains { touch in !deletes.contains { $0.sawHere(touch) } }
  }

  func writes(of column: Int) -> [Write] { writes.filter { $0.change(of: column) != nil } }

  /// The write whose value a column has, where the last writer wins: the greatest. A cell that a move carried counts as
  /// written when the last was that the move had seen here, and of two such the later move's stands.
  func last(_ column: Int) -> Write? {
    let all = writes(of: column)
    let written = all.filter { !$0.carries(column) }
    func age(_ write: Write) -> (Stamp?, Stamp?) {
      guard write.carries(column) else { return (write.stamp, nil) }
      return (written.filter { write.sawHere($0) }.map(\.stamp).max(), write.stamp)
    }
    return all.max { left, right in
      let (a, b) = (age(left), age(right))
      if a.0 == b.0, a.1 == b.1 { return isOutdone(left, by: right, in: column) }
      return Self.precedes(a.0, b.0) || a.0 == b.0 && Self.precedes(a.1, b.1)
    }
  }

  /// Of what one transaction wrote to several rows that became one the greater value counts.
  private func isOutdone(_ left: Write, by right: Write, in column: Int) -> Bool {
    func bytes(_ write: Write) -> [UInt8] {
      guard case .value(let value)? = write.change(of: column) else { return [] }
      var writer = ByteWriter()
      writer.value(value)
      return writer.bytes
    }
    return bytes(left).lexicographicallyPrecedes(bytes(right))
  }

  private static func precedes(_ left: Stamp?, _ right: Stamp?) -> Bool {
    guard let right else { return false }
    return left.map { $0 < right } ?? true
  }

  /// The row as it is, shown or not.
  var values: [Value] {
    shape.columns.indices.map { $0 < shape.keyCount ? name.key[$0] : value(of: $0) }
  }

  private func value(of column: Int) -> Value {
    let all = writes(of: column).filter { !bringsOnlyDefault($0, to: column) }
    if all.isEmpty { return shape.columns[column].begun(at: version) }
    /// A write that an insert saw is taken back by it.
    let kept = all.filter { write in !all.contains { $0.isInsert && $0.sawHere(write) } }
    switch shape.columns[column].policy {
    case .lastWriterWins:
      guard case .value(let value)? = last(column)?.change(of: column) else { return .null }
      return value
    case .counter:
      let lacking = kept.filter { $0.isInsert && $0.transaction.version < shape.columns[column].versions.lowerBound }
      // A row that nobody inserted began with the default, too.
      let beginsAnew = lacking.isEmpty && all.contains(where: \.isInsert)
      guard case .integer(let start) = beginsAnew ? 0 : shape.columns[column].begun(at: version) else { return .null }
      let others = kept.filter { write in !lacking.contains { $0.dot == write.dot } }
      return .integer(others.reduce(start) { $0 &+ Self.difference($1.change(of: column)) })
    case .set:
      return SetText.text(elements(column, kept, of: all))
    case .maximum, .minimum, .longest:
      let heads = all.filter { write in !all.contains { $0.sawHere(write) } }
      return choice(heads.compactMap { if case .value(let value)? = $0.change(of: column) { value } else { nil } }, column)
    }
  }

  /// The default of a column that adds up does not follow a move: the row has one under its new key, too.
  private func bringsOnlyDefault(_ write: Write, to column: Int) -> Bool {
    write.path != nil && write.isInsert && write.transaction.version < shape.columns[column].versions.lowerBound
      && shape.columns[column].policy != .lastWriterWins
  }

  private static func difference(_ change: HistoricOperation.Change?) -> Int64 {
    switch change {
    case .sum(let number), .value(.integer(let number)): number
    default: 0
    }
  }

  /// Who adds an element anew, or removes it, takes the place of the additions that it has seen. That stays so for an author who had
  /// seen that, and not them, as hostile contexts say.
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
            guard other.sawHere(write), case .elements(let added, let removed)? = other.change(of: column) else { return false }
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
      return texts.dropFirst().reduce(texts.first) { best, text in best.map { Tally.longer($0, text) } }.map { .text($0) } ?? .null
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
      case .update(let changes): "update \(changes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))"
      case .delete: "delete"
      case .leave(let target): "leave to \(target.key.map(\.text).joined(separator: "/"))"
      case .arrive(let row, let changed): "arrive (\(row.map(\.text).joined(separator: ", "))), changed \(changed.sorted())"
      }
    let way = path.map { " by way of \($0.moves.count) moves" } ?? ""
    return "\(what)\(way) by \(VersionVector([dot.origin: dot.sequence]).text) at \(transaction.hlc.milliseconds) "
      + "in version \(transaction.version) upon \(transaction.context.text)"
  }
}
