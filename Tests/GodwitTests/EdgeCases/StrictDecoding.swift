extension Decoder {
  /// The fields of an object, which may be no others: one that is misspelt must not go unnoticed.
  func container<Key: CodingKey & CaseIterable>(only keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let known = Set(Key.allCases.map(\.stringValue))
    for key in try container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: codingPath, debugDescription: "\(key.stringValue) is none of \(known.sorted())"))
    }
    return try container(keyedBy: Key.self)
  }
}

private struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
