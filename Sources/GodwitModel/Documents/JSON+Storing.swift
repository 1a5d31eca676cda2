import Foundation
import GodwitBase

extension JSON {
  /// An Encodable value as JSON text; dates as documents have them, and decimals that no double gives back as texts.
  ///
  /// Throws `valueNotStorable` for what JSON has no form for, such as NaN.
  package static func text(encoding value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    encoder.dateEncodingStrategy = .custom { date, encoder in
      guard let text = DocumentDate.text(date) else {
        let context = EncodingError.Context(
          codingPath: encoder.codingPath, debugDescription: "a date is NaN, or not of the years 0 to 9999")
        throw EncodingError.invalidValue(date, context)
      }
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
    do {
      return try ExactNumbers.kept(in: String(decoding: try encoder.encode(value), as: UTF8.self))
    } catch let error as EncodingError {
      // What the error says shows the value.
      throw GodwitError(.valueNotStorable, "the value has no form in JSON\(Self.place(of: error))")
    }
  }

  /// Throws `valueNotStorable` when a number is NaN or infinite.
  package func checkNumbers() throws {
    switch self {
    case .real(let number) where !number.isFinite:
      throw GodwitError(
        .valueNotStorable, "a number of the document is NaN or infinite, or a date not of the years 0 to 9999")
    case .array(let elements): for element in elements { try element.checkNumbers() }
    case .object(let members): for member in members.values { try member.checkNumbers() }
    default: break
    }
  }

  /// The value as a Decodable type, with texts as dates and truth as ``boolValue`` reads it.
  ///
  /// - Throws: `valueMismatch` that names the member.
  public func decode<Target: Decodable>(_ type: Target.Type = Target.self) throws -> Target {
    do {
      return try JSONTreeDecoder(self, []).decode(type)
    } catch let error as DecodingError {
      throw Self.mismatch(error)
    }
  }

  private static func mismatch(_ error: DecodingError) -> GodwitError {
    let (path, what): ([any CodingKey], String) =
      switch error {
      case .typeMismatch(let type, let context): (context.codingPath, "is not \(type)")
      case .valueNotFound(let type, let context): (context.codingPath, "is null, not \(type)")
      case .keyNotFound(let key, let context): (context.codingPath, "has no member \(key.stringValue)")
      // The description shows the value.
      case .dataCorrupted(let context): (context.codingPath, "holds no value of its type")
      @unknown default: ([], "does not decode")
      }
    let place = path.map(\.stringValue).joined(separator: ".")
    return GodwitError(
      .valueMismatch, place.isEmpty ? "the document \(what)" : "member \(place) of the document \(what)")
  }

  /// Where in a value an encoder failed, in words; nothing for the value itself.
  private static func place(of error: EncodingError) -> String {
    guard case .invalidValue(_, let context) = error, !context.codingPath.isEmpty else { return "" }
    return ", at \(context.codingPath.map(\.stringValue).joined(separator: "."))"
  }
}
