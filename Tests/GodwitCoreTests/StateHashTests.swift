import Foundation
import GodwitBase
import GodwitCore
import Testing

extension [Value] {
  fileprivate var encoded: [UInt8] {
    var writer = ByteWriter()
    for value in self { writer.value(value) }
    return writer.bytes
  }
}

@Suite("State hash")
struct StateHashTests {
  @Test(
    "wyhash is as published",
    arguments: [
      ("", 0x0409_638e_e2bd_e459, 0), ("a", 0xa841_2d09_1b5f_e0a9, 1), ("abc", 0x32dd_92e4_b291_5153, 2),
      ("message digest", 0x8619_1240_89a3_a16b, 3), ("abcdefghijklmnopqrstuvwxyz", 0x7a43_afb6_1d7f_5f40, 4),
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0xff42_329b_90e5_0d58, 5),
      (String(repeating: "1234567890", count: 8), 0xc39c_ab13_b115_aad3, 6),
    ] as [(String, UInt64, UInt64)])
  func published(_ text: String, _ hash: UInt64, _ seed: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { FoldedMultiply.hash($0, seed: seed) } == hash)
  }

  @Test("a number is hashed as its eight bytes are")
  func numbers() {
    for number in [0, 1, .max, 0x0123_4567_89ab_cdef] as [UInt64] {
      let bytes = withUnsafeBytes(of: number.littleEndian) { Array($0) }
      let seed = FoldedMultiply.prepared(7)
      let hash = bytes.withUnsafeBytes { FoldedMultiply.hash($0, prepared: seed) }
      #expect(hash == FoldedMultiply.hash(number, prepared: seed))
    }
  }

  private let group = GroupID(Identifier128(high: 1, low: 2))

  private func definition(
    _ columns: Int, name: String = "thing", extra: [ColumnDefinition] = []
  ) throws -> TableDefinition {
    try TableDefinition(
      name: name, keyCount: 1,
      columns: [ColumnDefinition(name: "id", type: .text, isNullable: false)]
        + (0..<columns).map { ColumnDefinition(name: "c\($0)", type: .any, isNullable: true) } + extra)
  }

  private func random(_ generator: inout SystemRandomNumberGenerator) -> Value {
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: .null
    case 1: .integer(.random(in: Int64.min...Int64.max, using: &generator))
    case 2: .real(.random(in: -1e9...1e9, using: &generator))
    case 3: .text(String(repeating: "x", count: .random(in: 0...70, using: &generator)))
    case 4: .blob((0..<Int.random(in: 0...20, using: &generator)).map { _ in .random(in: 0...255, using: &generator) })
    default: .integer(.random(in: 0...3, using: &generator))
    }
  }

  @Test("what inserts, updates and deletes add up to is the hash of the rows that are left, in any order")
  func additive() throws {
    var generator = SystemRandomNumberGenerator()
    let hash = try TableHash(definition(4), of: group)
    var rows: [String: [Value]] = [:]
    var sum = StateSum.zero
    for _ in 0..<2_000 {
      let id = "row \(Int.random(in: 0..<40, using: &generator))"
      let key = [Value.text(id)].encoded
      if var row = rows[id] {
        if Bool.random(using: &generator) {
          sum -= hash.row(key[...], row)
          rows[id] = nil
        } else {
          let column = Int.random(in: 1...4, using: &generator)
          sum -= hash.cell(column, hash.key(key[...]), row[column - 1])
          row[column - 1] = random(&generator)
          sum += hash.cell(column, hash.key(key[...]), row[column - 1])
          rows[id] = row
        }
      } else {
        rows[id] = (0..<4).map { _ in random(&generator) }
        sum += hash.row(key[...], rows[id] ?? [])
      }
    }
    var whole = StateSum.zero
    for (id, row) in rows.shuffled() {
      whole += ([.text(id)] + row).encoded.withUnsafeBytes { hash.row(encoded: $0) }
    }
    #expect(sum == whole)
  }

  @Test("rows, cells, values, storage classes, tables and groups are distinguished")
  func different() throws {
    let hash = try TableHash(definition(2), of: group)
    func row(_ id: String, _ values: Value...) -> StateSum { hash.row([Value.text(id)].encoded[...], values) }
    let sums = [
      row("a", 1, 2), row("a", 2, 1), row("b", 1, 2), row("a", .real(1), 2), row("a", "1", 2), row("a", .null, .null),
      row("b", .null, .null), row("a", .blob(Array("1".utf8)), 2), row("a", "", 2), row("a", .blob([]), 2),
      row("a", .real(0), 2), row("a", .real(-0.0), 2), row("a", 1, 2) + row("b", 2, 1), row("a", 2, 1) + row("b", 1, 2),
      try TableHash(definition(2, name: "other"), of: group).row([Value.text("a")].encoded[...], [1, 2]),
      try TableHash(definition(2), of: GroupID(Identifier128(high: 1, low: 3)))
        .row([Value.text("a")].encoded[...], [1, 2]),
    ]
    #expect(Set(sums).count == sums.count)
  }

  @Test("a column that is added changes no hash, whatever its default")
  func added() throws {
    let before = try TableHash(definition(2), of: group)
    let extra = ColumnDefinition(name: "new", type: .integer, isNullable: false, defaultValue: 5)
    let after = try TableHash(definition(2, extra: [extra]), of: group)
    let key = [Value.text("a")].encoded
    #expect(before.row(key[...], [1, "x"]) == after.row(key[...], [1, "x", 5]))
    #expect(before.row(key[...], [1, "x"]) != after.row(key[...], [1, "x", 6]))
    #expect(after.row(key[...], [1, "x"]) == after.row(key[...], [1, "x", 5]))
  }
}
