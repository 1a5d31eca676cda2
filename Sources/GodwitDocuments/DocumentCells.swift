import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine

/// The cells of one document as it is written: encoded values by column. Its memory serves document after document.
struct DocumentCells {
  private(set) var values = ByteWriter(capacity: 512)
  /// By column: where its value stands in `values`; nil when the document does not say.
  private(set) var ranges: [Range<Int>?] = []
  /// Which members have been read, so that none comes twice.
  private var seen: [Bool] = []
  /// Members that count or collect, as the document has them.
  private(set) var declared: [DeclaredCell] = []
  /// Columns that stay as they are.
  private(set) var kept: Set<Int> = []

  mutating func begin(_ layout: CollectionLayout) {
    values.removeAll()
    ranges.removeAll(keepingCapacity: true)
    ranges.append(contentsOf: repeatElement(nil, count: layout.table.definition.columns.count))
    seen.removeAll(keepingCapacity: true)
    seen.append(contentsOf: repeatElement(false, count: layout.shape.members.count))
    declared.removeAll(keepingCapacity: true)
    kept.removeAll(keepingCapacity: true)
  }

  mutating func set(_ column: Int, _ value: Value) {
    let start = values.count
    values.value(value)
    ranges[column] = start..<values.count
  }

  /// Writes an encoded value to a column.
  mutating func set(_ column: Int, encoded bytes: [UInt8]) {
    let start = values.count
    values.raw(bytes)
    ranges[column] = start..<values.count
  }

  /// Leaves columns as they are.
  mutating func keep(_ columns: Int?...) { for case let column? in columns { kept.insert(column) } }

  /// Reads a document. Members without a column are named, in the order of the text, and left out: the table has to
  /// have them first.
  mutating func read(_ bytes: UnsafeRawBufferPointer, _ layout: CollectionLayout) throws -> [String] {
    var scanner = JSONScanner(bytes)
    guard scanner.peek() == UInt8(ascii: "{") else {
      throw scanner.failure("is no object", hint: "a document is an object: {\"name\": …}")
    }
    _ = scanner.take(UInt8(ascii: "{"))
    var unknown: [String] = []
    var unknownNames: Set<[UInt8]> = []
    var names = MemberNames()
    var count = 0
    layout.beginDocument()
    try scanner.forEachMember(depth: 0) { name, scanner in
      count += 1
      guard count <= CollectionTable.memberLimit else {
        throw name.failure("has more than \(CollectionTable.memberLimit) members in a document")
      }
      try names.insertForm(of: name)
      guard let place = name.withBytes({ layout.place(of: $0) }) else {
        guard unknownNames.insert(name.bytes).inserted else { throw name.failure("has a member twice") }
        let start = values.count
        do { _ = try CollectionTable.column(of: name.text) } catch let error as GodwitError {
          let failure = name.failure("has a member that no collection can have: \(error.message)")
          throw GodwitError(failure.code, failure.message, hint: error.hint, underlying: failure.underlying)
        }
        if try !DocumentCell.encode(&scanner, to: &values) { unknown.append(name.text) }
        values.truncate(to: start)
        return
      }
      guard !seen[place] else { throw name.failure("has a member twice") }
      seen[place] = true
      let column = layout.plainColumns[place]
      if column >= 0 {
        let start = values.count
        _ = try DocumentCell.encode(&scanner, to: &values)
        ranges[column] = start..<values.count
        return
      }
      try read(layout.shape.members[place], name, &scanner)
    }
    try scanner.expectEnd()
    return unknown
  }

  /// The cell is written for a document that is new; for one that is there, ``settle(with:_:)`` looks at what it has.
  private mutating func read(
    _ member: CollectionShape.Member, _ name: JSONScanner.Name, _ scanner: inout JSONScanner
  ) throws {
    var writer = ByteWriter(capacity: 32)
    _ = try DocumentCell.encode(&scanner, to: &writer)
    let cell = try DeclaredCell(member, encoded: writer.bytes, name)
    declared.append(cell)
    switch cell.given {
    case .count: if let counter = member.counter { set(counter, encoded: cell.encoded) }
    case .elements(let text): if let set = member.set { self.set(set, text) }
    case .nothing, .other: break
    }
  }

  /// The encoded value of a column, or nil when the document does not say.
  func encoded(_ column: Int) -> ArraySlice<UInt8>? { ranges[column].map { values.bytes[$0] } }

  /// Appends the whole row, with what a document without a member has.
  func write(to writer: inout ByteWriter, _ layout: CollectionLayout) {
    values.bytes.withUnsafeBytes { bytes in
      // Cells that follow one another in memory, too, go in one piece.
      var piece = 0..<0
      for column in ranges.indices {
        if let range = ranges[column], range.lowerBound == piece.upperBound {
          piece = piece.lowerBound..<range.upperBound
          continue
        }
        if !piece.isEmpty { writer.raw(UnsafeRawBufferPointer(rebasing: bytes[piece])) }
        piece = ranges[column] ?? 0..<0
        if ranges[column] == nil { layout.defaults[column].withUnsafeBytes { writer.raw($0) } }
      }
      if !piece.isEmpty { writer.raw(UnsafeRawBufferPointer(rebasing: bytes[piece])) }
    }
  }
}
