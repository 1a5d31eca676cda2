import Foundation

/// The rows that godwit-bench makes from the same seed (Tools/godwit-bench/Harness/BenchModels.swift).
enum RowSource {
  static func rows(_ count: Int) -> [LocalRow] {
    let words = ["river", "stone", "harbour", "quiet", "ninety", "window", "bread", "north", "paper", "kestrel"]
    var generator = SplitMix64(state: 42)
    func word() -> String { words[Int(generator.next() % 10)] }
    return (0..<count).map { index in
      let title = "note \(index) about \(word()) and \(word())"
      let body = (0..<8).map { _ in word() }.joined(separator: " ")
      return LocalRow(
        id: key(index), title: title, body: body, views: Int(generator.next() % 10_000),
        created: 700_000_000 + Double(index) * 1.5)
    }
  }

  static func folders(_ count: Int, notesEach: Int) -> ([Folder], [Note]) {
    let folders = (0..<count).map { Folder(id: key($0), name: "folder \($0)") }
    let notes = rows(count * notesEach).enumerated().map { number, row in
      Note(
        id: row.id, folder: folders[number / notesEach].id, title: row.title, body: row.body, views: row.views,
        created: row.created)
    }
    return (folders, notes)
  }

  /// Keys that grow, as Godwit's do: random ones would scatter over the index.
  private static func key(_ number: Int) -> UUID {
    withUnsafeBytes(of: (UInt64(0x0190_0000_0000_7000).bigEndian, UInt64(number).bigEndian)) {
      UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
    }
  }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
