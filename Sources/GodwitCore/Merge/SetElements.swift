import GodwitBase

/// A set column's value: a JSON array without repetition, its elements in their one form and in the order of its bytes,
/// by which they are distinguished, too (Specs/merge.md, "Policies").
package enum SetElements {
  /// The elements, each as JSON in its one form; nil when the value is no array.
  package static func parse(_ value: Value) -> [String]? {
    if value == .null { return [] }
    guard case .text(var text) = value else { return nil }
    return text.withUTF8 { buffer in
      var scanner = JSONScanner(UnsafeRawBufferPointer(buffer))
      guard scanner.take(UInt8(ascii: "[")) else { return nil }
      return try? elements(&scanner)
    }
  }

  /// The bracket is stepped over.
  private static func elements(_ scanner: inout JSONScanner) throws -> [String] {
    var elements: [String] = []
    var writer = ByteWriter(capacity: 32)
    try scanner.forEachElement(depth: 0) { scanner in
      writer.removeAll()
      try scanner.canonicalize(to: &writer, depth: 1)
      elements.append(String(decoding: writer.bytes, as: UTF8.self))
    }
    try scanner.expectEnd()
    return elements
  }

  /// Whether the value is a set in its one form.
  package static func isCanonical(_ value: Value) -> Bool {
    guard let elements = parse(value) else { return false }
    return value == .null || Self.value(of: elements) == value
  }

  package static func value(of elements: some Sequence<String>) -> Value { value(of: distinct(elements)) }

  package static func value(of elements: Set<Value>) -> Value {
    .text("[\(sorted(elements).joined(separator: ","))]")
  }

  /// As values, which are the same when their bytes are. Texts are the same to Swift when Unicode holds them for that.
  package static func distinct(_ elements: some Sequence<String>) -> Set<Value> { Set(elements.lazy.map(Value.text)) }

  static func sorted(_ elements: Set<Value>) -> [String] {
    let texts = elements.compactMap { element -> String? in if case .text(let text) = element { text } else { nil } }
    return texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// What an update does to a set, as it travels: a text of lines, `+` or `-` and an element's JSON. JSON has no line
/// ends of its own in this form.
package struct SetChange: Sendable {
  package var added: [String] = []
  package var removed: [String] = []

  package init(from old: [String], to new: [String]) {
    let (old, new) = (SetElements.distinct(old), SetElements.distinct(new))
    added = SetElements.sorted(new.subtracting(old))
    removed = SetElements.sorted(old.subtracting(new))
  }

  package init(_ value: Value) throws {
    guard case .text(let text) = value else { throw ByteReader.malformed("a change of a set") }
    for line in text.split(separator: "\n") {
      switch line.first {
      case "+": added.append(String(line.dropFirst()))
      case "-": removed.append(String(line.dropFirst()))
      default: throw ByteReader.malformed("a change of a set")
      }
    }
  }

  /// Whether the value is what a writer of a change makes of it: elements in their one form and order, none twice.
  package static func isCanonical(_ value: Value) -> Bool {
    guard let change = try? SetChange(value), change.value == value else { return false }
    return [change.added, change.removed].allSatisfy { elements in
      elements.isEmpty || SetElements.isCanonical(.text("[\(elements.joined(separator: ","))]"))
    } && SetElements.distinct(change.added).isDisjoint(with: SetElements.distinct(change.removed))
  }

  /// The elements that it names.
  package var changed: Set<Value> { SetElements.distinct(added + removed) }

  package var value: Value {
    .text((added.map { "+\($0)" } + removed.map { "-\($0)" }).joined(separator: "\n"))
  }

  /// The set after the change, as its author saw it.
  package func applied(to elements: [String]) -> [String] {
    let (removed, added) = (SetElements.distinct(removed), SetElements.distinct(added))
    return SetElements.sorted(SetElements.distinct(elements).subtracting(removed).union(added))
  }
}
