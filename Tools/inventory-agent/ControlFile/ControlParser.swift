/// Reads a Debian control file, such as `/var/lib/dpkg/status`, paragraph by paragraph (deb822(5)).
///
/// Fields nobody asked for are skipped without being decoded. Bytes that are not UTF-8, which old descriptions
/// hold, become U+FFFD: they spoil a word, and a scan must not stop for that.
struct ControlParser {
  private let fields: [(name: String, bytes: [UInt8])]
  private var lines: LineReader
  private var paragraph: ControlParagraph?
  /// The field whose lines are being collected, or nil within a field that nobody asked for.
  private var field: String?
  private var value: [UInt8] = []

  /// Reads what `nextChunk` returns until that is empty, and keeps the named fields.
  init(fields: [String], nextChunk: @escaping () throws -> [UInt8]) {
    self.fields = fields.map { ($0, Array($0.utf8)) }
    lines = LineReader(nextChunk)
  }

  /// The next paragraph, or nil after the last.
  ///
  /// - Throws: ``ControlSyntaxError``, and what reading throws.
  mutating func next() throws -> ControlParagraph? {
    while let line = try lines.next() {
      let text = line.trimmed
      if text.isEmpty {
        if let complete = finishParagraph() { return complete }
      } else {
        try take(line: text)
      }
    }
    return finishParagraph()
  }

  private mutating func take(line: ArraySlice<UInt8>) throws(ControlSyntaxError) {
    guard !line.contains(.zero) else { throw error(.zeroByte) }
    guard line.first?.isBlank == true else { return try startField(line) }
    guard paragraph != nil else { throw error(.continuationWithoutField) }
    guard field != nil else { return }
    // One blank marks the line as continued; a full stop alone stands for an empty line.
    let text = line.dropFirst()
    value.append(.newline)
    if !text.elementsEqual([.fullStop]) { value += text }
  }

  private mutating func startField(_ line: ArraySlice<UInt8>) throws(ControlSyntaxError) {
    finishField()
    if paragraph == nil { paragraph = ControlParagraph(line: lines.number) }
    guard let colon = line.firstIndex(of: .colon), colon > line.startIndex else { throw error(.notAField) }
    let name = line[..<colon]
    guard let known = fields.first(where: { name.equalsIgnoringCase($0.bytes) }) else { return }
    guard paragraph?[known.name] == nil else { throw error(.repeatedField(known.name)) }
    field = known.name
    value = Array(line[(colon + 1)...].drop { $0.isBlank })
  }

  private mutating func finishField() {
    guard let field else { return }
    paragraph?[field] = String(decoding: value, as: UTF8.self)
    self.field = nil
  }

  private mutating func finishParagraph() -> ControlParagraph? {
    finishField()
    defer { paragraph = nil }
    return paragraph
  }

  private func error(_ problem: ControlSyntaxError.Problem) -> ControlSyntaxError {
    ControlSyntaxError(problem: problem, line: lines.number)
  }
}

extension UInt8 {
  fileprivate static let newline = UInt8(ascii: "\n")
  fileprivate static let colon = UInt8(ascii: ":")
  fileprivate static let fullStop = UInt8(ascii: ".")

  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
  /// Without the blanks at its end, and the carriage return of a file that came through another system.
  fileprivate var trimmed: ArraySlice<UInt8> {
    guard let last = lastIndex(where: { !$0.isBlank && $0 != UInt8(ascii: "\r") }) else { return [] }
    return self[...last]
  }

  fileprivate func equalsIgnoringCase(_ name: [UInt8]) -> Bool {
    // In ASCII, letters of both cases differ in this bit; the field names asked for hold letters and hyphens only.
    count == name.count && zip(self, name).allSatisfy { $0 | 0x20 == $1 | 0x20 }
  }
}
