import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitStorage

/// What a document shows of a member that is declared as a counter or set (Specs/documents.md, "Declared members").
enum DeclaredValue: Equatable {
  /// A count, with what stands in the plain column.
  case count
  /// Elements, with those that stand in the plain column.
  case elements
  /// The plain column's value, which is of another kind.
  case plain
}

extension CollectionShape.Member {
  /// What a document shows that has this in the member's plain column, and elements in its set or none.
  func shown(_ plain: JSON, hasElements: @autoclosure () -> Bool) -> DeclaredValue {
    switch plain {
    case .array: set == nil ? .plain : .elements
    case .null, .integer:
      if counter == nil {
        set != nil && plain == .null ? .elements : .plain
      } else {
        set != nil && hasElements() ? .elements : .count
      }
    default: .plain
    }
  }

  /// The same for the row that a statement stands on, and the plain column's value.
  func shown(_ statement: Statement) throws -> (value: DeclaredValue, plain: JSON) {
    let plain = try value.map { DocumentCell.json(of: try statement.value(at: Int32($0))) } ?? .null
    return (shown(plain, hasElements: set.map { !statement.isEmptySet(at: Int32($0)) } ?? false), plain)
  }
}

extension Statement {
  fileprivate func isEmptySet(at column: Int32) -> Bool { withBytes(at: column) { $0.elementsEqual("[]".utf8) } }
}

/// A member that counts or collects, as a document on its way in has it.
struct DeclaredCell {
  enum Given {
    case nothing
    case count
    /// The set in its one form.
    case elements(Value)
    /// What is neither, and the error when it is not what stands there already.
    case other(GodwitError)
  }

  let member: CollectionShape.Member
  /// As a plain column has it.
  let encoded: [UInt8]
  let given: Given

  init(_ member: CollectionShape.Member, encoded: [UInt8], _ name: JSONScanner.Name) throws {
    self.member = member
    self.encoded = encoded
    var reader = ByteReader(encoded[...])
    let value = try reader.value()
    switch DocumentCell.json(of: value) {
    case .null: given = .nothing
    case .integer where member.counter != nil: given = .count
    case .array where member.set != nil: given = .elements(SetElements.value(of: SetElements.parse(value) ?? []))
    default:
      let what = member.counter == nil ? "set that is no array" : "counter that is no integer"
      given = .other(name.failure("has a \(what)"))
    }
  }

  /// Throws for what a new document cannot have.
  func checkIsNew() throws { if case .other(let error) = given { throw error } }

  /// The document has another kind of value there, which a write must not bury.
  func held(_ shown: DeclaredValue, _ plain: JSON) -> GodwitError {
    let what =
      switch (shown, plain) {
      case (.elements, _): "an array"
      case (.count, _): "a count"
      case (.plain, .string): "a text"
      case (.plain, .bool): "true or false"
      case (.plain, .object): "an object"
      case (.plain, .array): "an array"
      case (.plain, _): "a number that is none of its"
      }
    let kind = member.counter == nil ? "set" : member.set == nil ? "counter" : "counter and set"
    return GodwitError(
      .valueMismatch, "member \(member.name) is declared as a \(kind), and in this document it is \(what)",
      hint: "take that away first, if it is of no use any more: merge the member as null")
  }
}

extension DocumentCells {
  /// Whether a document with these cells may be new.
  var mayBeNew: Bool { declared.allSatisfy { if case .other = $0.given { false } else { true } } }

  /// Throws for what a new document cannot have.
  func checkIsNew() throws { for cell in declared { try cell.checkIsNew() } }

  /// Fits what the document brings to declared members to what the row has that the statement stands on. A write
  /// concerns what the document shows; what waits behind it stays.
  mutating func settle(with statement: Statement, _ layout: CollectionLayout) throws {
    for cell in declared {
      let member = cell.member
      let (shown, plain) = try member.shown(statement)
      switch cell.given {
      case .nothing: takeAway(member, shown, plain, layout)
      case .count:
        guard shown == .count else { throw cell.held(shown, plain) }
        empty(member.value)
        keep(member.set)
      case .elements:
        let isFree = try shown == .elements || shown == .count && plain == .null && member.counts(0, statement)
        guard isFree else { throw cell.held(shown, plain) }
        if plain.arrayValue == nil { keep(member.value) } else { empty(member.value) }
        keep(member.counter)
      case .other(let error):
        guard shown == .plain, let column = member.value else { throw error }
        var stored = ByteWriter(capacity: 32)
        statement.write(at: Int32(column), to: &stored)
        guard stored.bytes == cell.encoded else { throw error }
        keep(column, member.counter, member.set)
      }
    }
  }

  private mutating func takeAway(
    _ member: CollectionShape.Member, _ shown: DeclaredValue, _ plain: JSON, _ layout: CollectionLayout
  ) {
    switch shown {
    case .plain:
      empty(member.value)
      keep(member.counter, member.set)
    case .count:
      empty(member.value)
      if let counter = member.counter { set(counter, encoded: layout.defaults[counter]) }
      keep(member.set)
    case .elements:
      if plain.arrayValue == nil { keep(member.value) } else { empty(member.value) }
      if let set = member.set { self.set(set, encoded: layout.defaults[set]) }
      keep(member.counter)
    }
  }

  private mutating func empty(_ column: Int?) { if let column { set(column, .null) } }
}

extension CollectionShape.Member {
  fileprivate func counts(_ number: Int64, _ statement: Statement) throws -> Bool {
    counter.map { statement.integer(at: Int32($0)) == number } ?? true
  }
}
