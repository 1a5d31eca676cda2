import GodwitBase

/// What a change set may say of a counter or a set (Specs/change-log.md, "Change set"). It does not tell which of the two a
/// column is; so a difference that comes to a set, or a change of a set to a counter, says nothing there.
package enum RelativeValue {
  /// Throws `corruptFile` for another value than a transaction of this kind can have in a column of a counter or set.
  package static func check(_ value: Value, in kind: OperationKind) throws {
    switch value {
    case .integer: return
    case .text where kind == .update: if SetChange.isCanonical(value) { return }
    case .text: if SetElements.isCanonical(value) { return }
    default: break
    }
    throw ByteReader.malformed("a value that is neither a counter's nor a set's")
  }
}
