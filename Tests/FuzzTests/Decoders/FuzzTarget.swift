import GodwitBase

/// A decoder, and what must hold of it whatever bytes it is given (Specs/fuzz.md).
struct FuzzTarget: Sendable {
  /// What it is called on the command line and among the inputs that are kept.
  let name: String
  /// Decodes the bytes. `GodwitError` is how a decoder refuses them; anything else that is thrown is a fault.
  let decode: @Sendable ([UInt8]) throws -> Void
  /// Inputs to start from, by file name.
  let starts: @Sendable () throws -> [String: [UInt8]]

  static let all = ageTargets + syncFileTargets + changeTargets + keyTargets + migrationTargets + documentTargets

  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

  /// Throws what is wrong with how the decoder takes the bytes.
  func judge(_ bytes: [UInt8]) throws {
    do {
      try decode(bytes)
    } catch is GodwitError {
      // Refused, as most inputs are.
    }
  }
}

/// What a decoder must never do.
struct FuzzFault: Error, CustomStringConvertible {
  let description: String
}

/// Throws a ``FuzzFault`` unless the condition holds.
func require(_ condition: Bool, _ fault: @autoclosure () -> String) throws {
  guard condition else { throw FuzzFault(description: fault()) }
}

/// Takes numbers from the front of an input, so that the fuzzer chooses them; 0 when nothing is left.
struct FuzzChoices {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func number(_ byteCount: Int) -> Int { (0..<byteCount).reduce(0) { number, _ in number << 8 | Int(byte()) } }
}
