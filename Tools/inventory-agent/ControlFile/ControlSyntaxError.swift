/// Why a control file cannot be read, and where.
struct ControlSyntaxError: Error, Equatable {
  enum Problem: Equatable {
    /// A line that starts with a space or tab, with no field before it.
    case continuationWithoutField
    /// A line that is no field: no colon, or nothing before it.
    case notAField
    /// A field that the paragraph has already.
    case repeatedField(String)
    /// A zero byte, as file systems leave behind after a power failure.
    case zeroByte
    /// More bytes without a line end than any real field has.
    case lineTooLong
    /// The file ends within a line, so the rest of it may be missing.
    case unfinishedLine
    /// A paragraph without a field it must have.
    case missingField(String)
    /// A field whose value is not of its kind.
    case malformedValue(String)
  }

  let problem: Problem
  /// The line, counted from 1.
  let line: Int
}

extension ControlSyntaxError: CustomStringConvertible {
  var description: String { "line \(line): \(problem.text)" }
}

extension ControlSyntaxError.Problem {
  fileprivate var text: String {
    switch self {
    case .continuationWithoutField: "a continued line follows no field"
    case .notAField: "neither a field nor a continued line"
    case .repeatedField(let name): "the field \(name) comes twice in one paragraph"
    case .zeroByte: "a zero byte; the file is damaged"
    case .lineTooLong: "the line is longer than \(LineReader.lineLimit) bytes"
    case .unfinishedLine: "the file ends within a line; it may be cut off"
    case .missingField(let name): "the paragraph that starts here has no field \(name)"
    case .malformedValue(let name): "the field \(name) of the paragraph that starts here is malformed"
    }
  }
}
