import Foundation
import GodwitBase

extension Row {
  /// The row as a value whose coding keys name columns; throws `valueMismatch` that names the column.
  public func decode<Element: Decodable>(_ type: Element.Type = Element.self) throws -> Element {
    do {
      return try Element(from: RowDecoder(row: self))
    } catch let error as DecodingError {
      throw Self.mismatch(error)
    }
  }

  private static func mismatch(_ error: DecodingError) -> GodwitError {
    let (context, what): (DecodingError.Context, String) =
      switch error {
      case .typeMismatch(let type, let context): (context, "is not \(type)")
      case .valueNotFound(let type, let context): (context, "is NULL, not \(type)")
      case .keyNotFound(let key, let context): (context, "has no column \(key.stringValue)")
      // The description shows the value.
      case .dataCorrupted(let context): (context, "holds no value of its type")
      @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "does not decode")
      }
    let column = context.codingPath.map(\.stringValue).joined(separator: ".")
    return GodwitError(
      .valueMismatch, column.isEmpty ? "the row \(what)" : "column \(column) \(what)")
  }
}

/// Decodes a row of columns.
private struct RowDecoder: Decoder {
  let row: Row
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Columns(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.typeMismatch([Any].self, .init(codingPath: [], debugDescription: "a row has names, no order"))
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw DecodingError.typeMismatch(Any.self, .init(codingPath: [], debugDescription: "a row is no single value"))
  }

  struct Columns<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columns.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { row.columns.contains(key.stringValue) }
    func decodeNil(forKey key: Key) throws -> Bool { try value(key) == .null }

    private func value(_ key: Key) throws -> Value {
      guard let value = row[key.stringValue] else {
        throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "no such column"))
      }
      return value
    }

    private func mismatch(_ type: Any.Type, _ key: Key) -> DecodingError {
      .typeMismatch(type, .init(codingPath: [key], debugDescription: "another storage class or out of range"))
    }

    private func integer<Number: FixedWidthInteger>(_ key: Key) throws -> Number {
      guard case .integer(let number) = try value(key), let result = Number(exactly: number) else {
        throw mismatch(Number.self, key)
      }
      return result
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try integer(key) as Int64 != 0 }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { UInt(try decode(UInt64.self, forKey: key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
      guard let number = Float(inRange: try decode(Double.self, forKey: key)) else { throw mismatch(type, key) }
      return number
    }

    /// Beyond Int64.max numbers are kept as digits.
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
      if case .text(let digits) = try value(key), let number = UInt64(digits) { return number }
      return try integer(key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
      switch try value(key) {
      case .real(let number): return number
      case .integer(let number): return Double(number)
      default: throw mismatch(type, key)
      }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
      guard case .text(let text) = try value(key) else { throw mismatch(type, key) }
      return text
    }

    func decode<Target: Decodable>(_ type: Target.Type, forKey key: Key) throws -> Target {
      let value = try value(key)
      if let found = Self.stored(value, as: type) { return found }
      if case .integer(let number) = value, let found = try? JSONDecoder().decode(type, from: Data("\(number)".utf8)) {
        return found
      }
      if case .real(let number) = value, let found = try? JSONDecoder().decode(type, from: Data("\(number)".utf8)) {
        return found
      }
      guard case .text(let text) = value else { throw mismatch(type, key) }
      // A text that is no JSON may be a raw value, a URL, a decimal: those decode from a JSON string.
      if let found = try? JSONDecoder().decode(type, from: Data(text.utf8)) { return found }
      do {
        return try JSONDecoder().decode(type, from: JSONEncoder().encode(text))
      } catch {
        throw mismatch(type, key)
      }
    }

    /// The types that Godwit stores in another form than JSON.
    private static func stored<Target>(_ value: Value, as type: Target.Type) -> Target? {
      switch value {
      case .blob(let bytes) where type == Data.self: return Data(bytes) as? Target
      case .blob(let bytes) where type == UUID.self && bytes.count == 16:
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } as? Target
      case .blob(let bytes): return (type as? any StoredAsBytes.Type)?.init(bytes: bytes) as? Target
      case .real(let seconds) where type == Date.self: return Date(timeIntervalSinceReferenceDate: seconds) as? Target
      default: return nil
      }
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw mismatch([String: Any].self, key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      throw mismatch([Any].self, key)
    }
    func superDecoder() throws -> any Decoder { RowDecoder(row: row) }
    func superDecoder(forKey key: Key) throws -> any Decoder { RowDecoder(row: row) }
  }
}
