import Godwit
import GodwitBase

/// A stored value in JSON (Specs/vectors/README.md, "Values").
struct VectorValue: Decodable, Hashable, Sendable {
  let value: Value

  private enum CodingKeys: CodingKey, CaseIterable { case integer, real, text, blob, times }

  init(from decoder: any Decoder) throws {
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      value = .null
    } else if let number = try? single.decode(Int64.self) {
      value = .integer(number)
    } else if let text = try? single.decode(String.self) {
      value = .text(text)
    } else {
      value = try Self.tagged(decoder)
    }
  }

  private static func tagged(_ decoder: any Decoder) throws -> Value {
    let fields = try decoder.container(only: CodingKeys.self)
    func unreadable(_ key: CodingKeys) -> DecodingError {
      .dataCorruptedError(forKey: key, in: fields, debugDescription: "no \(key.stringValue)")
    }
    let times = try fields.decodeIfPresent(Int.self, forKey: .times) ?? 1
    if let digits = try fields.decodeIfPresent(String.self, forKey: .integer) {
      guard let number = Int64(digits) else { throw unreadable(.integer) }
      return .integer(number)
    }
    if let digits = try fields.decodeIfPresent(String.self, forKey: .real) {
      guard let number = Double(digits), !number.isNaN else { throw unreadable(.real) }
      return .real(number)
    }
    if let text = try fields.decodeIfPresent(String.self, forKey: .text) {
      return .text(String(repeating: text, count: times))
    }
    let digits = try fields.decode(String.self, forKey: .blob)
    guard let bytes = Hexadecimal.decode(digits) else { throw unreadable(.blob) }
    return .blob(repeated(bytes, times))
  }

  /// By whole copies: a joined sequence goes through every byte by itself, which takes minutes for ten megabytes in
  /// debug.
  private static func repeated(_ bytes: [UInt8], _ times: Int) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count * times)
    for _ in 0..<times { output += bytes }
    return output
  }
}

extension Value {
  /// For messages: long values by their length.
  var brief: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "real \(number)"
    case .text(let text) where text.utf8.count > 60: "text of \(text.utf8.count) bytes"
    case .text(let text):
      "'\(text.unicodeScalars.map { $0.isASCII ? String($0) : $0.escaped(asASCII: true) }.joined())'"
    case .blob(let bytes) where bytes.count > 60: "blob of \(bytes.count) bytes"
    case .blob(let bytes): "x'\(Hexadecimal.encode(bytes))'"
    }
  }
}
