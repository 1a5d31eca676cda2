import Foundation
import GodwitBase

/// Codable values of a cache are JSON.
enum CacheCoding {
  static func encode(_ value: some Encodable) throws -> Data {
    do {
      return try JSONEncoder().encode(value)
    } catch is EncodingError {
      // What the error says shows the value.
      throw GodwitError(.valueNotStorable, "the value has no form in JSON")
    }
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch is DecodingError {
      throw GodwitError(.valueMismatch, "what is cached is of another type")
    }
  }
}
