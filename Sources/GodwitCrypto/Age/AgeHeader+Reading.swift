import GodwitBase

extension AgeHeader {
  /// Reads a header and leaves the source at the payload.
  ///
  /// Throws `unsupportedVersion` for another version or an armored file, `truncatedFile` when the source ends
  /// inside the header, `limitExceeded` for a header beyond the limits, `corruptFile` for any other deviation.
  init(reading source: LineSource) throws {
    var text = try Self.readVersionLine(source)
    var stanzas: [AgeStanza] = []
    func nextLine() throws -> [UInt8] {
      guard text.count < Self.byteCountMax else { throw Self.tooLarge() }
      let line = try source.line(byteCountMax: Self.byteCountMax - text.count)
      guard line.isTerminated else { throw line.isCut ? Self.tooLarge() : Self.truncated() }
      text += line.bytes
      text.append(UInt8(ascii: "\n"))
      return line.bytes
    }
    while true {
      let line = try nextLine()
      if line.starts(with: "-> ".utf8) {
        guard stanzas.count < Self.stanzaCountMax else { throw Self.tooLarge() }
        let words = try Self.words(line.dropFirst(3))
        let body = try Self.readBody(nextLine)
        stanzas.append(AgeStanza(type: words[0], arguments: Array(words[1...]), body: body))
      } else {
        guard line.starts(with: "--- ".utf8), !stanzas.isEmpty else { throw Self.malformed("a line has no meaning") }
        guard let code = Base64.decode(line.dropFirst(4)), code.count == 32 else {
          throw Self.malformed("the MAC is malformed")
        }
        text.removeLast(line.count + 1 - 3)
        self.init(stanzas: stanzas, authenticatedText: text, authenticationCode: code)
        return
      }
    }
  }

  private static func readVersionLine(_ source: LineSource) throws -> [UInt8] {
    let family = "age-encryption.org/v"
    let line = try source.line(byteCountMax: 64)
    let expected = Array("\(versionLine)\n".utf8)
    if line.isTerminated, line.bytes == expected.dropLast() { return expected }
    if !line.isTerminated, !line.isCut, line.bytes.isEmpty { throw empty() }
    if !line.isTerminated, !line.isCut, expected.starts(with: line.bytes) { throw truncated() }
    let text = String(decoding: line.bytes, as: UTF8.self)
    if line.isTerminated, text.hasPrefix(family), text.dropFirst(family.count).allSatisfy(\.isNumber) {
      throw GodwitError(
        .unsupportedVersion, "the file is of another version of age", hint: "seal it again with age version 1")
    }
    if text.hasPrefix("-----BEGIN AGE ENCRYPTED FILE-----") {
      throw GodwitError(
        .unsupportedVersion, "the file is an armored age file", hint: "seal it again without armor")
    }
    throw GodwitError(.corruptFile, "the file is not an age file")
  }

  /// One or more words of printable ASCII with one space between.
  private static func words(_ line: ArraySlice<UInt8>) throws -> [String] {
    try line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { word in
      guard !word.isEmpty, word.allSatisfy({ (33...126).contains($0) }) else {
        throw malformed("a stanza's arguments are malformed")
      }
      return String(decoding: word, as: UTF8.self)
    }
  }

  private static func readBody(_ nextLine: () throws -> [UInt8]) throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      let line = try nextLine()
      guard line.count <= AgeStanza.columnCount, let bytes = Base64.decode(line) else {
        throw malformed("a stanza's body is malformed")
      }
      body += bytes
      if line.count < AgeStanza.columnCount { return body }
    }
  }

  static func malformed(_ reason: String) -> GodwitError {
    GodwitError(.corruptFile, "the age header is malformed: \(reason)", hint: "copy the file again from its source")
  }

  private static func truncated() -> GodwitError {
    GodwitError(.truncatedFile, "the file ends inside its age header", hint: "copy the file again from its source")
  }

  private static func empty() -> GodwitError {
    GodwitError(.truncatedFile, "the file is empty", hint: "see what the program says that was to write it")
  }

  private static func tooLarge() -> GodwitError {
    GodwitError(
      .limitExceeded,
      "the age header has more than \(stanzaCountMax) stanzas or \(byteCountMax) bytes")
  }
}
