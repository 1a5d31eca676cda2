import GodwitBase

extension JSONScanner {
  /// The next value as a tree.
  package mutating func value(depth: Int) throws -> JSON {
    switch try token() {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .string: return .string(String(decoding: try string(), as: UTF8.self))
    case .array:
      var elements: [JSON] = []
      try forEachElement(depth: depth) { scanner in elements.append(try scanner.value(depth: depth + 1)) }
      return .array(elements)
    case .object:
      var members: [String: JSON] = [:]
      var names = MemberNames()
      try forEachMember(depth: depth) { name, scanner in
        try names.insert(name)
        members[name.text] = try scanner.value(depth: depth + 1)
      }
      return .object(members)
    }
  }
}
