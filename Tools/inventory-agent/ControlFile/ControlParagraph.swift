/// One paragraph of a control file: the fields asked for, by name.
struct ControlParagraph {
  /// The line it starts on, counted from 1.
  let line: Int
  private var values: [String: String] = [:]

  init(line: Int) { self.line = line }

  /// The value of a field, or nil when the paragraph lacks it. Lines of a long value are separated by `\n`.
  subscript(field: String) -> String? {
    get { values[field] }
    set { values[field] = newValue }
  }

  /// The value of a field that must be there and not be empty.
  func required(_ field: String) throws(ControlSyntaxError) -> String {
    guard let value = values[field], !value.isEmpty else {
      throw ControlSyntaxError(problem: .missingField(field), line: line)
    }
    return value
  }
}
