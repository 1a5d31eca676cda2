import Foundation
import GodwitBase

/// Decodes from a ``JSON`` value. Foundation's decoder knows neither that "yes" is true nor more than one form of date.
struct JSONTreeDecoder: Decoder {
  let json: JSON
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ json: JSON, _ codingPath: [any CodingKey]) {
    self.json = json
    self.codingPath = codingPath
  }

  func mismatch(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "another kind of value")
    return json == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// The types that have a form of their own in documents come before their own idea of one.
  func decode<Target: Decodable>(_ type: Target.Type) throws -> Target {
    let known: Any?
    switch type {
    case is Date.Type: known = json.dateValue
    case is Data.Type: known = json.stringValue.flatMap { Data(base64Encoded: $0) }
    case is URL.Type: known = json.stringValue.flatMap { URL(string: $0) }
    case is Decimal.Type: known = decimal
    case is JSON.Type: known = json
    default: return try Target(from: self)
    }
    guard let value = known as? Target else { throw mismatch(type) }
    return value
  }

  private var decimal: Decimal? {
    switch json {
    case .integer(let number): Decimal(number)
    case .real(let number): Decimal(string: "\(number)")
    case .string(let text): Decimal(wholeText: text)
    default: nil
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let members = json.objectValue else { throw mismatch([String: JSON].self) }
    return KeyedDecodingContainer(Members(members: members, decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let elements = json.arrayValue else { throw mismatch([JSON].self) }
    return Elements(elements: elements, decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(decoder: self) }

  fileprivate func bool() throws -> Bool {
    guard json != .null, json.arrayValue == nil, json.objectValue == nil else { throw mismatch(Bool.self) }
    return json.boolValue
  }

  fileprivate func string() throws -> String {
    guard let text = json.stringValue else { throw mismatch(String.self) }
    return text
  }

  fileprivate func real() throws -> Double {
    guard let number = json.realValue else { throw mismatch(Double.self) }
    return number
  }

  fileprivate func single() throws -> Float {
    guard let number = Float(inRange: try real()) else { throw mismatch(Float.self) }
    return number
  }

  /// A number beyond 64 bits with a sign is stored as the text of its digits.
  fileprivate func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    if let number = json.integerValue.flatMap({ Number(exactly: $0) }) { return number }
    guard let text = json.stringValue, Int64(text) == nil, let number = Number(text) else { throw mismatch(type) }
    return number
  }
}

private struct PlaceKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(intValue: Int) {
    stringValue = "[\(intValue)]"
    self.intValue = intValue
  }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: JSON]
  let decoder: JSONTreeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  private func member(_ key: Key) throws -> JSONTreeDecoder {
    guard let json = members[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "no such member"))
    }
    return JSONTreeDecoder(json, codingPath + [key])
  }

  func decodeNil(forKey key: Key) throws -> Bool { members[key.stringValue] ?? .null == .null }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).string() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).real() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).single() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).integer(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).integer(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).integer(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).integer(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).integer(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).integer(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).integer(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).integer(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).integer(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).integer(type) }
  func decode<Target: Decodable>(_ type: Target.Type, forKey key: Key) throws -> Target { try member(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try member(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder {
    JSONTreeDecoder(members["super"] ?? .null, codingPath + [PlaceKey(stringValue: "super")])
  }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
}

private struct Elements: UnkeyedDecodingContainer {
  let elements: [JSON]
  let decoder: JSONTreeDecoder
  var currentIndex = 0
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private func place(_ type: Any.Type) throws -> JSONTreeDecoder {
    let path = codingPath + [PlaceKey(intValue: currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "the array has ended"))
    }
    return JSONTreeDecoder(elements[currentIndex], path)
  }

  private mutating func next<Output>(_ type: Output.Type, _ body: (JSONTreeDecoder) throws -> Output) throws -> Output {
    let value = try body(try place(type))
    currentIndex += 1
    return value
  }

  mutating func decodeNil() throws -> Bool {
    guard try place(JSON.self).json == .null else { return false }
    currentIndex += 1
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.bool() } }
  mutating func decode<Target: Decodable>(_ type: Target.Type) throws -> Target {
    try next(type) { try $0.decode(type) }
  }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next(KeyedDecodingContainer<Nested>.self) { try $0.container(keyedBy: type) }
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let inner = try place([JSON].self).unkeyedContainer()
    currentIndex += 1
    return inner
  }
  mutating func superDecoder() throws -> any Decoder { try next(JSONTreeDecoder.self) { $0 } }
}

private struct Single: SingleValueDecodingContainer {
  let decoder: JSONTreeDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.json == .null }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_ type: String.Type) throws -> String { try decoder.string() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.real() }
  func decode(_ type: Float.Type) throws -> Float { try decoder.single() }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
  func decode<Target: Decodable>(_ type: Target.Type) throws -> Target { try decoder.decode(type) }
}
