import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// The columns that a collection has on one connection, by member.
package final class CollectionShape {
  /// A member's columns, by number; one at least.
  package struct Member {
    let name: String
    /// `"name":`, ready to be written.
    let label: [UInt8]
    var value: Int?
    package var counter: Int?
    package var set: Int?
  }

  let columns: [String]
  /// In the order of the bytes of their names.
  let members: [Member]
  /// Members whose names Unicode holds for the same, by their places; mostly none.
  let twins: [[Int]]
  private let numbers: [[UInt8]: Int]

  init(_ columns: [String]) {
    self.columns = columns
    var found: [[UInt8]: Member] = [:]
    for (number, column) in columns.enumerated() {
      guard let (name, kind) = CollectionTable.member(of: column) else { continue }
      var member = found[Array(name.utf8)] ?? Member(name: name, label: Self.label(name))
      switch kind {
      case .value: member.value = number
      case .counter: member.counter = number
      case .set: member.set = number
      }
      found[Array(name.utf8)] = member
    }
    let sorted = found.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    members = sorted.map(\.value)
    numbers = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1.key, $0) })
    twins = Self.twins(members.map(\.name))
  }

  /// Among ASCII alone there are none; Swift compares texts as Unicode does.
  private static func twins(_ names: [String]) -> [[Int]] {
    guard !names.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return [] }
    return Dictionary(grouping: names.indices) { names[$0] }.values.filter { $0.count > 1 }
  }

  private static func label(_ name: String) -> [UInt8] {
    var writer = ByteWriter()
    JSONWriter.append(name, to: &writer)
    writer.byte(UInt8(ascii: ":"))
    return writer.bytes
  }

  /// The member of this name, or nil when no document has ever had it.
  package subscript(name: String) -> Member? { numbers[Array(name.utf8)].map { members[$0] } }

  /// The number of a column of the collection's own.
  func number(of column: String) -> Int? { columns.firstIndex(of: column) }
}

extension CollectionShape {
  /// The shape of what a statement selects, all columns of a collection; the last one when nothing has changed.
  static func of(_ statement: Statement, like last: CollectionShape?) -> CollectionShape {
    if let last, last.columns.count == statement.columnCount,
      last.columns.indices.allSatisfy({ statement.isColumn($0, named: last.columns[$0]) })
    {
      return last
    }
    return CollectionShape(statement.columnNames)
  }
}

/// The shapes that a connection has seen last, by table.
private final class CollectionShapes: ConnectionMemory {
  var known: [String: CollectionShape] = [:]
}

extension CollectionShape {
  /// The collection as this connection sees it in its transaction; nil when there is none.
  static func current(of address: CollectionAddress, on connection: Connection) throws -> CollectionShape? {
    let table = try address.table()
    do {
      return try connection.withStatement("SELECT * FROM \(SQLName.quoted(table)) LIMIT 0") { statement in
        // A statement is compiled anew at its first step after the table has changed.
        _ = try statement.step()
        return remember(of(statement, like: shapes(of: connection).known[table]), table, connection)
      }
    } catch let error as GodwitError where error.code == .notInSchema {
      return nil
    }
  }

  /// The shape of a statement that selects all columns and stands on a row.
  package static func of(_ statement: Statement, table: String, on connection: Connection) -> CollectionShape {
    remember(of(statement, like: shapes(of: connection).known[table]), table, connection)
  }

  private static func remember(
    _ shape: CollectionShape, _ table: String, _ connection: Connection
  ) -> CollectionShape {
    shapes(of: connection).known[table] = shape
    return shape
  }

  private static func shapes(of connection: Connection) -> CollectionShapes { connection.memory(CollectionShapes.self) }
}
