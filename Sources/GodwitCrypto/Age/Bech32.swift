import GodwitBase

/// Bech32 (BIP 173) without its limit of 90 characters, as C2SP age uses it for keys.
package enum Bech32 {
  private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
  private static let separator = UInt8(ascii: "1")
  private static let checksumLength = 6

  /// The text for a prefix and bytes. An upper-case prefix gives upper-case text.
  package static func encode(prefix: String, data: some Collection<UInt8>) -> [UInt8] {
    let prefixBytes = Array(prefix.utf8)
    let isUppercase = prefixBytes.contains(where: isUpper)
    var groups = [UInt8]()
    defer { groups.wipe() }
    groups.reserveCapacity(data.count * 8 / 5 + 1 + checksumLength)
    regroup(data, from: 8, to: 5, into: &groups)
    let unmixed = checksum(prefixBytes, groups, [UInt8](repeating: 0, count: checksumLength)) ^ 1
    for index in 0..<checksumLength {
      groups.append(UInt8(truncatingIfNeeded: unmixed >> UInt32(5 * (checksumLength - 1 - index))) & 31)
    }
    var text = prefixBytes + [separator]
    text.reserveCapacity(text.count + groups.count + 1)  // and a line feed, so that a secret is not copied for it
    for group in groups {
      let character = alphabet[Int(group)]
      text.append(isUppercase ? upper(character) : character)
    }
    return text
  }

  /// The prefix as written and the bytes. Throws `invalidKey` for text that is not Bech32; `what` names it.
  package static func decode(_ text: [UInt8], what: String) throws(GodwitError) -> (prefix: String, data: [UInt8]) {
    func malformed(_ reason: String) -> GodwitError {
      GodwitError(.invalidKey, "\(what) is malformed: \(reason)", hint: "copy the whole line again")
    }
    guard text.allSatisfy({ (33...126).contains($0) }) else { throw malformed("it has a character no key has") }
    guard !(text.contains(where: isUpper) && text.contains(where: isLower)) else {
      throw malformed("it mixes upper and lower case")
    }
    guard let end = text.lastIndex(of: separator), end > 0, text.count - end - 1 >= checksumLength else {
      throw malformed("it is cut or has no prefix")
    }
    var groups = [UInt8]()
    defer { groups.wipe() }
    groups.reserveCapacity(text.count)
    for character in text[(end + 1)...] {
      guard let group = alphabet.firstIndex(of: lower(character)) else {
        throw malformed("it has a character no key has")
      }
      groups.append(UInt8(group))
    }
    guard checksum(text[..<end].map(lower), groups, []) == 1 else { throw malformed("its checksum does not fit") }
    groups.removeLast(checksumLength)
    var data: [UInt8] = []
    data.reserveCapacity(groups.count * 5 / 8 + 1)
    let (rest, restBits) = regroup(groups, from: 5, to: 8, into: &data)
    guard restBits < 5, rest == 0 else { throw malformed("its length is impossible") }
    return (String(decoding: text[..<end], as: UTF8.self), data)
  }

  /// Cuts a row of bits anew. Growing groups leaves the bits that fill no group to the caller, shrinking pads them.
  @discardableResult
  private static func regroup(
    _ input: some Collection<UInt8>, from inputBits: UInt32, to outputBits: UInt32, into output: inout [UInt8]
  ) -> (rest: UInt32, restBits: UInt32) {
    let mask: UInt32 = (1 << outputBits) - 1
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for element in input {
      bits = (bits << inputBits | UInt32(element)) & 0xFFFF
      bitCount += inputBits
      while bitCount >= outputBits {
        bitCount -= outputBits
        output.append(UInt8(bits >> bitCount & mask))
      }
    }
    if outputBits < inputBits, bitCount > 0 {
      output.append(UInt8(bits << (outputBits - bitCount) & mask))
    }
    return (bits & ((1 << bitCount) - 1), bitCount)
  }

  /// The BCH code of BIP 173 over the expanded prefix, the groups and a tail.
  private static func checksum(_ prefix: [UInt8], _ groups: [UInt8], _ tail: [UInt8]) -> UInt32 {
    let generator: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
    var state: UInt32 = 1
    func mix(_ value: UInt8) {
      let top = state >> 25
      state = (state & 0x1FF_FFFF) << 5 ^ UInt32(value)
      for (bit, term) in generator.enumerated() where top >> UInt32(bit) & 1 == 1 { state ^= term }
    }
    for character in prefix { mix(lower(character) >> 5) }
    mix(0)
    for character in prefix { mix(lower(character) & 31) }
    for group in groups { mix(group) }
    for group in tail { mix(group) }
    return state
  }

  private static func isUpper(_ character: UInt8) -> Bool { (65...90).contains(character) }
  private static func isLower(_ character: UInt8) -> Bool { (97...122).contains(character) }
  private static func lower(_ character: UInt8) -> UInt8 { isUpper(character) ? character | 32 : character }
  private static func upper(_ character: UInt8) -> UInt8 { isLower(character) ? character & ~32 : character }
}
