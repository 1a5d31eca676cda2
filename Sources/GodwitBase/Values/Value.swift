/// A stored value in one of SQLite's five storage classes.
///
/// Equality is exact: 1, 1.0 and "1" differ, −0.0 differs from 0.0, and text is compared by its bytes,
/// so two spellings of one character (NFC and NFD) differ.
public enum Value: Sendable {
  /// NULL: no value.
  case null
  /// INTEGER, of 64 bits with a sign.
  case integer(Int64)
  /// REAL, of 64 bits; never NaN, which the library refuses to store.
  case real(Double)
  /// TEXT in UTF-8, which may hold NUL characters.
  case text(String)
  /// BLOB: bytes as they are.
  case blob([UInt8])
}

extension Value: Hashable {
  /// The same storage class and the same bytes.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
    case (.text(let a), .text(let b)): sameBytes(a, b)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  /// Long texts are compared by their storage, which copies of one share.
  private static func sameBytes(_ left: String, _ right: String) -> Bool {
    let isSame = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in
        left.count == right.count && (left.baseAddress == right.baseAddress || left.elementsEqual(right))
      }
    }
    return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
  }

  /// Hashes what ``==(_:_:)`` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value.bitPattern)
    case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .blob(let value): hasher.combine(value)
    }
  }
}

// No nil literal: it would make `optional == nil` mean `optional == .null`.
extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
  /// An INTEGER.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A REAL.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// A TEXT.
  public init(stringLiteral value: String) { self = .text(value) }
}

extension Value {
  /// Whether it is NULL.
  public var isNull: Bool { if case .null = self { true } else { false } }
  /// The number of an INTEGER, or nil.
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  /// The number of a REAL, or nil; an INTEGER is none.
  public var real: Double? { if case .real(let number) = self { number } else { nil } }
  /// The text of a TEXT, or nil.
  public var text: String? { if case .text(let text) = self { text } else { nil } }
  /// The bytes of a BLOB, or nil.
  public var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }
}

extension Value {
  /// Of a text's UTF-8, or of a blob; 0 for what has no length of its own.
  package var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    case .null, .integer, .real: 0
    }
  }
}
