import Foundation
import Godwit
import Testing

@Suite("A model's property")
struct ValueTests {
  private let pair: ReplicaPair
  init() async throws { pair = try await ReplicaPair(models: [Everything.self]) }

  /// Stores a model through the triggers and in a long run, reads it here and at the receiver.
  private func expectLossless<Property: Equatable>(
    _ keyPath: WritableKeyPath<Everything, Property> & Sendable, _ values: [Property],
    at location: SourceLocation = #_sourceLocation
  ) async throws where Property: Sendable {
    try await pair.sender.write { transaction in
      _ = try transaction.execute("DELETE FROM everything")
      for (number, value) in values.enumerated() {
        for prefix in ["single", "run"] {
          if prefix == "run" {
            for extra in 0..<70 { try transaction.insert(Everything(id: "\(number)-extra-\(extra)")) }
          }
          var model = Everything(id: "\(prefix)-\(number)")
          model[keyPath: keyPath] = value
          try transaction.insert(model)
        }
        _ = try transaction.execute("DELETE FROM everything WHERE id LIKE '%-extra-%'")
      }
    }
    try await pair.expectSame(at: location)
    for replica in [pair.sender, pair.receiver] {
      for (number, value) in values.enumerated() {
        for prefix in ["single", "run"] {
          let key = "\(prefix)-\(number)"
          var stored = try #require(try await replica.fetch(Everything.self, key: key), sourceLocation: location)
          #expect(stored[keyPath: keyPath] == value, "\(key)", sourceLocation: location)
          stored[keyPath: keyPath] = value
          let same = stored
          let changed = try await replica.write { try $0.update(same) }
          #expect(!changed, "\(key): storing what is there already changes it", sourceLocation: location)
        }
      }
    }
  }

  @Test("of any integer type comes back equal, the least and the greatest included")
  func integers() async throws {
    try await expectLossless(\.int, [.min, -1, 0, .max])
    try await expectLossless(\.int8, [.min, .max])
    try await expectLossless(\.int16, [.min, .max])
    try await expectLossless(\.int32, [.min, .max])
    try await expectLossless(\.int64, [.min, .max])
    try await expectLossless(\.uint, [.min, .max, UInt(Int.max), UInt(Int.max) + 1])
    try await expectLossless(\.uint8, [.max])
    try await expectLossless(\.uint16, [.max])
    try await expectLossless(\.uint32, [.max])
    try await expectLossless(\.uint64, [.min, .max, UInt64(Int64.max), UInt64(Int64.max) + 1])
    try await expectLossless(\.maybeUInt64, [nil, .max, 0])
    try await expectLossless(\.bool, [true, false])
  }

  @Test("that is a floating-point number comes back equal, infinities included")
  func floats() async throws {
    try await expectLossless(
      \.double,
      [.infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, 1, 9_007_199_254_740_992])
    try await expectLossless(\.float, [.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1])
  }

  @Test("keeps the sign of zero")
  func negativeZero() async throws {
    let pair = pair
    try await pair.sender.write { try $0.insert(Everything(id: "zero", double: -0.0)) }
    try await pair.expectSame()
    for replica in [pair.sender, pair.receiver] {
      #expect(try await replica.fetch(Everything.self, key: "zero")?.double.sign == .minus)
    }
  }

  @Test("that is a decimal keeps every digit")
  func decimals() async throws {
    let texts = [
      "0", "-1", "0.1", "123456789012345678901234567890.12345678", "0.00000000000000000000000000000000000001",
      "-99999999999999999999999999999999999999", "1.10",
    ]
    let values = try texts.map { try #require(Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX"))) }
    try await expectLossless(
      \.decimal, values + [.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude])
  }

  @Test("that is text or data comes back byte for byte")
  func textAndData() async throws {
    let texts = [
      "", "a\0b", "\0", "e\u{301}", "\u{E9}", "👩‍👩‍👧‍👦", "'; DROP TABLE everything; --",
      String(repeating: "ü", count: 50_000),
    ]
    try await expectLossless(\.text, texts)
    for replica in [pair.sender, pair.receiver] {
      let forms = try await replica.rows("SELECT text FROM everything WHERE id IN ('single-3', 'single-4') ORDER BY id")
      #expect(forms.map { $0.values[0] } == ["e\u{301}", "\u{E9}"])
    }
    try await expectLossless(\.data, [Data(), Data([0]), Data(0...255), Data(repeating: 1, count: 200_000)])
    try await expectLossless(\.maybeText, [nil, "", "nil"])
  }

  @Test("that is a date keeps more than milliseconds, and the ends of time")
  func dates() async throws {
    let dates: [Date] = [
      .distantPast, .distantFuture, Date(timeIntervalSince1970: 0), Date(timeIntervalSinceReferenceDate: 0.000_000_1),
      Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7), Date(timeIntervalSinceReferenceDate: -1e15),
    ]
    try await expectLossless(\.date, dates)
    try await expectLossless(\.maybeDate, [nil] + dates)
  }

  @Test("that is an identifier, address, enum or Codable comes back equal")
  func others() async throws {
    try await expectLossless(\.uuid, [UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000") ?? UUID()])
    try await expectLossless(
      \.url, [try #require(URL(string: "https://example.org/a%20b?c=d#e")), URL(fileURLWithPath: "/tmp/ü")])
    try await expectLossless(\.mood, [.calm, .wild])
    try await expectLossless(\.level, [.low, .high])
    try await expectLossless(\.list, [[], ["", "a\"b\\", "ü\0"]])
    try await expectLossless(\.map, [[:], ["b": 2, "a": .min, "": .max]])
    try await expectLossless(\.set, [[], [3, 1, 2, .min]])
    let place = Place(name: "ü\n", spots: [0.1, -1e300], inner: ["a": [1, 2], "b": []])
    try await expectLossless(\.place, [Place(), place])
    try await expectLossless(\.maybePlace, [nil, place])
    try await expectLossless(\.maybeInt, [nil, 0, .min])
  }

  @Test("that is NaN is refused, and nothing is written", arguments: [0, 80])
  func nan(insertsBefore: Int) async throws {
    let refused: [@Sendable (inout Everything) -> Void] = [
      { $0.double = .nan }, { $0.float = .nan }, { $0.decimal = .nan },
      { $0.date = Date(timeIntervalSinceReferenceDate: .nan) },
      { $0.place.spots = [.nan] },
    ]
    for change in refused {
      let failure = await code {
        try await pair.sender.write { transaction in
          for number in 0..<insertsBefore { try transaction.insert(Everything(id: "before-\(number)")) }
          var model = Everything(id: "nan")
          change(&model)
          try transaction.insert(model)
        }
      }
      #expect(failure == .valueNotStorable)
    }
    #expect(try await pair.sender.count(Everything.all) == 0)
    #expect(try await pair.sender.history.log().isEmpty)
    #expect(await code { try await pair.sender.fetch(Everything.where { $0.double == .nan }) } == .valueNotStorable)
  }

  @Test("that was stored as another type is a mismatch, never a guess")
  func mismatch() async throws {
    for (column, value) in [
      ("int8", "300"), ("bool", "'x'"), ("mood", "'angry'"), ("uuid", "x'00'"), ("list", "'{'"), ("date", "'x'"),
    ] {
      try await pair.sender.write { transaction in
        try transaction.insert(Everything(id: column))
        _ = try transaction.execute(SQL(text: "UPDATE everything SET \(column) = \(value) WHERE id = '\(column)'"))
      }
      #expect(await code { try await pair.sender.fetch(Everything.self, key: column) } == .valueMismatch, "\(column)")
    }
  }

  @Test("that is a large unsigned number is ordered and compared by its value")
  func unsignedOrder() async throws {
    let values: [UInt64] = [0, 5, UInt64(Int64.max), UInt64(Int64.max) + 1, 10_000_000_000_000_000_000, .max]
    try await pair.sender.write { transaction in
      for value in values.shuffled() { try transaction.insert(Everything(id: "\(value)", uint64: value)) }
    }
    #expect(try await pair.sender.fetch(Everything.order(by: \.uint64)).map(\.uint64) == values)
    for bound in values {
      #expect(try await pair.sender.count(Everything.where { $0.uint64 < bound }) == values.filter { $0 < bound }.count)
      #expect(
        try await pair.sender.count(Everything.where { $0.uint64 >= bound }) == values.filter { $0 >= bound }.count)
      #expect(try await pair.sender.count(Everything.where { $0.uint64 == bound }) == 1)
    }
    let middle = try await pair.sender.count(Everything.where { $0.uint64.isIn(5...UInt64(Int64.max) + 1) })
    #expect(middle == 3)
  }

  @Test("that is a key distinguishes the two spellings of a letter")
  func normalizationForms() async throws {
    try await pair.sender.write { transaction in
      try transaction.insert(Everything(id: "e\u{301}", int: 1))
      try transaction.insert(Everything(id: "\u{E9}", int: 2))
    }
    try await pair.expectSame()
    #expect(try await pair.receiver.fetch(Everything.self, key: "e\u{301}")?.int == 1)
    #expect(try await pair.receiver.fetch(Everything.self, key: "\u{E9}")?.int == 2)
    let changed = try await pair.sender.write { try $0.update(Everything(id: "\u{E9}", text: "\u{E9}")) }
    #expect(changed)
  }
}
