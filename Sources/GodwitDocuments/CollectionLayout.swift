import Foundation
import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// What writing documents into one table needs; it lasts until the table changes.
package final class CollectionLayout {
  package let table: CatalogTable
  package let shape: CollectionShape
  let rows: TableRows
  /// Each column's encoded value where a document has none.
  let defaults: [[UInt8]]
  private let connection: Connection
  private(set) lazy var insertion = Result { try connection.borrow(rows.insertSQL) }
  /// By name, members by their place in the shape.
  private let places: [[UInt8]: Int]
  /// By place of a member: its column, or -1 for one that counts or collects.
  let plainColumns: [Int]
  /// The names of members in the order in which the last document had them, which is mostly that of the next: where
  /// each stands in `orderedNames`, and its place.
  private var order: [(name: Range<Int>, place: Int)] = []
  private var orderedNames: [UInt8] = []
  private var next = 0

  init(_ table: CatalogTable, on connection: Connection) {
    self.table = table
    self.connection = connection
    let definition = table.definition
    shape = CollectionShape(definition.columns.map(\.name))
    places = Dictionary(uniqueKeysWithValues: shape.members.enumerated().map { (Array($1.name.utf8), $0) })
    plainColumns = shape.members.map { $0.counter == nil && $0.set == nil ? $0.value ?? -1 : -1 }
    rows = TableRows(definition, on: connection)
    defaults = definition.columns.map { column in
      var writer = ByteWriter(capacity: 4)
      writer.value(column.defaultValue ?? .null)
      return writer.bytes
    }
  }

  func close() { if case .success(let statement) = insertion { connection.giveBack(statement) } }

  // MARK: Members

  func beginDocument() { next = 0 }

  /// The member of this name, as its place in the shape; nil when no document has ever had it.
  func place(of name: UnsafeRawBufferPointer) -> Int? {
    if next < order.count {
      let expected = order[next]
      if orderedNames.isSame(as: name, in: expected.name) {
        next += 1
        return expected.place
      }
    }
    let bytes = Array(name)
    guard let place = places[bytes] else { return nil }
    order.removeLast(order.count - next)
    orderedNames.removeLast(orderedNames.count - (order.last?.name.upperBound ?? 0))
    order.append((orderedNames.count..<orderedNames.count + bytes.count, place))
    orderedNames += bytes
    next += 1
    return place
  }
}

extension [UInt8] {
  fileprivate func isSame(as other: UnsafeRawBufferPointer, in range: Range<Int>) -> Bool {
    guard range.count == other.count, let start = other.baseAddress else { return range.isEmpty && other.isEmpty }
    return withUnsafeBytes { own in
      own.baseAddress.map { memcmp($0 + range.lowerBound, start, range.count) == 0 } ?? false
    }
  }
}
