import GodwitBase

/// The text form of an age file (C2SP age, section "ASCII armor"): strict PEM (RFC 7468), base64 with padding in lines
/// of 64 characters.
package enum AgeArmor {
  static let firstLine = "-----BEGIN AGE ENCRYPTED FILE-----"
  static let lastLine = "-----END AGE ENCRYPTED FILE-----"
  static let columnCount = 64
  /// The bytes of a whole line.
  static let lineByteCount = 48
  /// Space before and after the armor that a reader passes over, in bytes.
  static let whitespaceCountMax = 1_024

  static func malformed(_ reason: String) -> GodwitError {
    GodwitError(.corruptFile, "the age armor is malformed: \(reason)", hint: "copy the file again from its source")
  }

  static func truncated() -> GodwitError {
    GodwitError(.truncatedFile, "the age armor has no end line", hint: "copy the file again from its source")
  }

  package static func isSpace(_ character: UInt8) -> Bool { character == 0x20 || (0x09...0x0D).contains(character) }
}

/// Writes what it is given as armor.
package final class AgeArmorWriter: ByteSink {
  private let sink: any ByteSink
  /// Less than a line.
  private var rest: [UInt8] = []
  private var hasStarted = false

  package init(to sink: any ByteSink) { self.sink = sink }

  package func write(_ buffer: UnsafeRawBufferPointer) throws {
    var text = start()
    rest += buffer
    let wholeCount = rest.count / AgeArmor.lineByteCount * AgeArmor.lineByteCount
    for line in stride(from: 0, to: wholeCount, by: AgeArmor.lineByteCount) {
      text += Base64.encode(rest[line..<line + AgeArmor.lineByteCount])
      text.append(UInt8(ascii: "\n"))
    }
    rest.removeFirst(wholeCount)
    if !text.isEmpty { try sink.write(text) }
  }

  /// Writes the last lines. Nothing can be written afterwards.
  package func finish() throws {
    var text = start()
    if !rest.isEmpty {
      text += Base64.encode(rest)
      text += repeatElement(UInt8(ascii: "="), count: (3 - rest.count % 3) % 3)
      text.append(UInt8(ascii: "\n"))
      rest = []
    }
    try sink.write(text + "\(AgeArmor.lastLine)\n".utf8)
  }

  private func start() -> [UInt8] {
    defer { hasStarted = true }
    return hasStarted ? [] : Array("\(AgeArmor.firstLine)\n".utf8)
  }
}
