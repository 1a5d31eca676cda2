import Godwit

/// A place in a text: line and column, in bytes, from 1.
struct TextPosition: Sendable {
  var line = 1
  var column = 1

  /// The place behind a byte.
  mutating func step(over byte: UInt8) {
    guard byte == UInt8(ascii: "\n") else { return column += 1 }
    line += 1
    column = 1
  }

  /// An error about what is here.
  func failure(_ problem: String, in name: String, hint: String? = nil) -> GodwitError {
    GodwitError(.invalidDocument, "\(name): \(problem), at line \(line), column \(column)", hint: hint)
  }

  /// An error about a value that begins here: what it says of its own lines goes by those of the file.
  func located(_ error: GodwitError, in name: String) -> GodwitError {
    guard let fault = error.underlying as? JSONFault else {
      return GodwitError(
        error.code, "\(name): the document at line \(line), column \(column): \(error.message)", hint: error.hint,
        underlying: error)
    }
    let place = TextPosition(
      line: line + fault.line - 1, column: fault.line == 1 ? column + fault.column - 1 : fault.column)
    return place.failure(fault.problem, in: name, hint: error.hint)
  }
}

/// Bytes of a file and where they begin.
struct PlacedText: Sendable {
  let bytes: [UInt8]
  let position: TextPosition

  /// Runs the body with the text. What it throws names the place in the file.
  func read<Output>(in name: String, _ body: (String) throws -> Output) throws -> Output {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw notUTF8(name) }
    do {
      return try body(text)
    } catch let error as GodwitError {
      throw position.located(error, in: name)
    }
  }

  private func notUTF8(_ name: String) -> GodwitError {
    var end = position
    var rest = bytes[...]
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    while case .scalarValue(let scalar) = decoder.decode(&iterator) {
      let width = UTF8.width(scalar)
      for byte in rest.prefix(width) { end.step(over: byte) }
      rest = rest.dropFirst(width)
    }
    return end.failure("the text is not UTF-8", in: name)
  }
}
