import GodwitBase

/// What Foundation's encoder writes, with every digit kept: a number that no double gives back, as a Decimal may be,
/// becomes a string of its digits (Specs/documents.md, "Values").
enum ExactNumbers {
  /// A double gives back so many digits, whatever they are.
  private static let digitsOfAnyDouble = 15

  /// - Throws: `valueNotStorable` for a Decimal that is NaN, which the encoder writes as that word.
  static func kept(in text: String) throws -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    var copied = 0
    var place = 0
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""): place = end(ofStringAt: place, bytes)
      case UInt8(ascii: "N"): throw GodwitError(.valueNotStorable, "a decimal number is NaN, which JSON has not")
      case UInt8(ascii: "-"), 0x30...0x39:
        let start = place
        while place < bytes.count, isPartOfNumber(bytes[place]) { place += 1 }
        guard !isExact(bytes[start..<place]) else { continue }
        result += bytes[copied..<start]
        result += "\"\(String(decoding: bytes[start..<place], as: UTF8.self))\"".utf8
        copied = place
      default: place += 1
      }
    }
    return copied == 0 ? text : String(decoding: result + bytes[copied...], as: UTF8.self)
  }

  /// Behind the quote that ends the string.
  private static func end(ofStringAt start: Int, _ bytes: [UInt8]) -> Int {
    var place = start + 1
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return place + 1
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool { isDigit(byte) || "+-.eE".utf8.contains(byte) }

  private static func isExact(_ number: ArraySlice<UInt8>) -> Bool {
    guard number.count(where: isDigit) > digitsOfAnyDouble else { return true }
    let text = String(decoding: number, as: UTF8.self)
    if Int64(text) != nil { return true }
    // A whole number beyond 64 bits is none that documents have.
    let isWhole = number.allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
    guard !isWhole, let double = Double(text) else { return false }
    return Decimals(text) == Decimals("\(double)")
  }

  /// The digits of a number without zeros at either end, and the power of ten that the last of them counts.
  private struct Decimals: Equatable {
    var digits: [UInt8] = []
    var power = 0

    init(_ text: String) {
      let parts = text.utf8.split { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
      let mantissa = parts.first ?? ""[...].utf8
      let point = mantissa.firstIndex(of: UInt8(ascii: "."))
      if let point { power -= mantissa.distance(from: point, to: mantissa.endIndex) - 1 }
      power += parts.count > 1 ? Int(Substring(parts[1])) ?? 0 : 0
      digits = Array(mantissa.filter(ExactNumbers.isDigit).drop { $0 == 0x30 })
      while digits.last == 0x30 {
        digits.removeLast()
        power += 1
      }
      if digits.isEmpty { power = 0 }
    }
  }
}
