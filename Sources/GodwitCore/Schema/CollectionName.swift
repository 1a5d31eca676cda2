/// How names of collections and members are written in SQL: by the characters of names alone, and without letters that
/// have a case (Specs/documents.md, "Names").
enum CollectionName {
  private static let mark = UInt8(ascii: "$")
  private static let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
  private static let smallLetters = UInt8(ascii: "a")...UInt8(ascii: "z")
  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let stop = UInt8(ascii: "_")
  /// What differs between a letter's two cases.
  private static let caseBit: UInt8 = 0x20

  static func written(_ name: String) -> String {
    var bytes: [UInt8] = []
    for scalar in name.unicodeScalars {
      switch scalar.value {
      case UInt32(mark): bytes += [mark, mark]
      case UInt32(capitals.lowerBound)...UInt32(capitals.upperBound):
        bytes += [mark, UInt8(scalar.value) | caseBit]
      case let value where isPlain(value): bytes.append(UInt8(value))
      default: bytes += [mark] + Array("\(scalar.value)".utf8) + [stop]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the character is written as itself.
  private static func isPlain(_ value: UInt32) -> Bool {
    UInt8(exactly: value).map { SchemaName.isPart($0) && !capitals.contains($0) } ?? false
  }

  /// The name that is written so; nil when none is.
  static func read(_ written: some Sequence<UInt8>) -> String? {
    var name = String.UnicodeScalarView()
    var bytes = written.makeIterator()
    while let byte = bytes.next() {
      guard byte == mark else {
        guard isPlain(UInt32(byte)) else { return nil }
        name.append(Unicode.Scalar(byte))
        continue
      }
      switch bytes.next() {
      case mark: name.append(Unicode.Scalar(mark))
      case .some(let letter) where smallLetters.contains(letter): name.append(Unicode.Scalar(letter & ~caseBit))
      case .some(let digit) where digits.contains(digit):
        guard let scalar = scalar(digit, &bytes) else { return nil }
        name.append(scalar)
      default: return nil
      }
    }
    return name.isEmpty ? nil : String(name)
  }

  /// A scalar's number, in no more digits than it needs, and its stop; none that is written otherwise.
  private static func scalar(_ first: UInt8, _ bytes: inout some IteratorProtocol<UInt8>) -> Unicode.Scalar? {
    var value = UInt32(first - digits.lowerBound)
    let hasLeadingZero = value == 0
    while let byte = bytes.next() {
      if byte == stop { return hasOtherForm(value) ? nil : Unicode.Scalar(value) }
      guard digits.contains(byte), !hasLeadingZero, value < 0x110000 else { return nil }
      value = value * 10 + UInt32(byte - digits.lowerBound)
    }
    return nil
  }

  /// Whether the character is never written by its number.
  private static func hasOtherForm(_ value: UInt32) -> Bool {
    isPlain(value) || value == UInt32(mark)
      || (UInt32(capitals.lowerBound)...UInt32(capitals.upperBound)).contains(value)
  }
}
