/// One way to the file key: a type, its arguments, and a body only that type understands
/// (C2SP age, section "Recipient stanza").
struct AgeStanza: Equatable, Sendable {
  /// A body line of this many characters is followed by another one.
  static let columnCount = 64

  let type: String
  let arguments: [String]
  let body: [UInt8]

  func encode(to text: inout [UInt8]) {
    text += "-> \(([type] + arguments).joined(separator: " "))\n".utf8
    var rest = Base64.encode(body)[...]
    while rest.count >= Self.columnCount {
      text += rest.prefix(Self.columnCount)
      text.append(UInt8(ascii: "\n"))
      rest = rest.dropFirst(Self.columnCount)
    }
    text += rest
    text.append(UInt8(ascii: "\n"))
  }
}
