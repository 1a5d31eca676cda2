import GodwitBase
import GodwitStorage
import Synchronization

/// The values of an `isIn`. Few are bound one by one; SQLite binds 999 values in a statement, so many are bound as one
/// blob, which ``ListCheck`` reads (Specs/queries.md, "Long lists").
package final class ValueList: Sendable {
  let values: [Value]
  /// Which list this is, in this process: the function that reads it keeps it by its number.
  let number = ValueList.latest.wrappingAdd(1, ordering: .relaxed).newValue
  private static let latest = Atomic<Int64>(0)

  init(_ values: [Value]) { self.values = values }

  /// Their number and each as Specs/encoding.md has it.
  var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 16 * values.count)
    writer.varint(values.count)
    for value in values { writer.value(value) }
    return writer.bytes
  }
}

/// The SQL function that asks whether a value is one of a long list. Its arguments are the value, the number of the
/// list, and the list.
package final class ListCheck: SQLPredicate {
  static let name = "godwit_is_in"
  /// As many as a statement can have are kept while they are small, and a few whatever they hold.
  private static let keptLists = 500
  private static let keptListsOfAnySize = 4
  private static let keptValues = 100_000
  /// The lists asked for last, the latest first: a statement asks for the same ones row after row.
  private var lists: [(number: Int, values: Set<Value>)] = []
  private var valueCount = 0

  package func holds(_ arguments: borrowing FunctionArguments) throws -> Bool {
    let value = Self.comparable(try arguments.value(0))
    let number = arguments.integer(1)
    if let known = lists.firstIndex(where: { $0.number == number }) { return lists[known].values.contains(value) }
    guard case .blob(let bytes) = try arguments.value(2) else { return false }
    var reader = ByteReader(bytes)
    var values: Set<Value> = []
    for _ in 0..<(try reader.varint()) { values.insert(Self.comparable(try reader.value())) }
    lists.insert((number, values), at: 0)
    valueCount += values.count
    while lists.count > Self.keptListsOfAnySize, lists.count > Self.keptLists || valueCount > Self.keptValues {
      valueCount -= lists.removeLast().values.count
    }
    return values.contains(value)
  }

  /// SQL compares numbers by their value, whichever their class.
  private static func comparable(_ value: Value) -> Value {
    guard case .real(let number) = value, let whole = Int64(exactly: number) else { return value }
    return .integer(whole)
  }

  /// Makes the function known to a connection, and to the SQL of its program: a request's text calls it.
  package static func register(on connection: Connection) throws {
    try connection.register(ListCheck(), as: name, argumentCount: 3, isOpen: true)
  }
}
