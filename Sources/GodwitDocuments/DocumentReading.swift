import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// Reads documents from rows of a collection, all of whose columns a statement selects.
package enum DocumentReading {
  /// The document as JSON text, members in the order of their bytes.
  package static func text(_ statement: Statement, _ shape: CollectionShape) throws -> String {
    guard shape.twins.isEmpty else { return JSON.object(try members(statement, shape)).text }
    var writer = ByteWriter(capacity: 256)
    var isFirst = true
    writer.byte(UInt8(ascii: "{"))
    for member in shape.members {
      guard hasValue(statement, member) else { continue }
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      writer.raw(member.label)
      if member.counter == nil, member.set == nil, let value = member.value {
        write(statement, Int32(value), to: &writer)
      } else {
        try json(statement, member).write(to: &writer)
      }
    }
    writer.byte(UInt8(ascii: "}"))
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// From which instant on a document is expired, in milliseconds since 1970 UTC; nil where it never is. SQL may have
  /// written a REAL.
  package static func expiry(_ value: Value) -> Int64? {
    switch value {
    case .integer(let instant): instant
    case .real(let instant): instant < -0x1p63 ? .min : Int64(exactly: instant.rounded(.up))
    case .null, .text, .blob: nil
    }
  }

  /// The document's members. Of names that Unicode holds for the same the first is shown as it is, the others as SQL
  /// has them.
  package static func members(_ statement: Statement, _ shape: CollectionShape) throws -> [String: JSON] {
    var members: [String: JSON] = [:]
    members.reserveCapacity(shape.members.count)
    var others: [(name: String, value: JSON)] = []
    for member in shape.members where hasValue(statement, member) {
      let value = try json(statement, member)
      if !shape.twins.isEmpty, members[member.name] != nil {
        others.append((member.name, value))
      } else {
        members[member.name] = value
      }
    }
    for (name, value) in others {
      var shown = try CollectionTable.column(of: name)
      while members[shown] != nil { shown = "$" + shown }
      members[shown] = value
    }
    return members
  }

  /// The member of a document whose name has these bytes; nil for one that it has not.
  package static func member(named name: String, _ statement: Statement, _ shape: CollectionShape) throws -> JSON? {
    guard let member = shape[name], hasValue(statement, member) else { return nil }
    return try json(statement, member)
  }

  static func hasValue(_ statement: Statement, _ member: CollectionShape.Member) -> Bool {
    if member.counter != nil || member.set != nil { return true }
    return member.value.map { !statement.isNull(at: Int32($0)) } ?? false
  }

  private static func write(_ statement: Statement, _ column: Int32, to writer: inout ByteWriter) {
    switch statement.storageClass(at: column) {
    case .integer: JSON.integer(statement.integer(at: column)).write(to: &writer)
    case .real: DocumentCell.write(statement.real(at: column), to: &writer)
    case .text: statement.withBytes(at: column) { DocumentCell.write(text: $0, to: &writer) }
    case .blob: DocumentCell.json(of: .blob(statement.blob(at: column))).write(to: &writer)
    case .null: writer.raw("null".utf8)
    }
  }

  private static func json(_ statement: Statement, _ member: CollectionShape.Member) throws -> JSON {
    let (shown, plain) = try member.shown(statement)
    guard member.counter != nil || member.set != nil else { return plain }
    switch shown {
    case .plain: return plain
    // What was counted or collected before the declaration, or by a replica that did not know of it, goes with the
    // rest.
    case .count:
      return .integer((member.counter.map { statement.integer(at: Int32($0)) } ?? 0) &+ (plain.integerValue ?? 0))
    case .elements:
      let value = try member.set.map { DocumentCell.json(of: try statement.value(at: Int32($0))) }
      let elements = value?.arrayValue ?? []
      let known = Set(elements)
      return .array(elements + (plain.arrayValue ?? []).filter { !known.contains($0) })
    }
  }
}
