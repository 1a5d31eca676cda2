/// How much reading a database may take (Specs/limits.md, "Another program's database").
package struct ReaderLimits: Equatable, Sendable {
  /// How many steps of SQLite's machine all statements may take. A row of three bytes may have 2,000 columns that were
  /// added later.
  package var steps: Int
  /// Memory beyond what the program takes by itself. A value is held as the page cache, SQLite and the answer have it,
  /// which grows by being doubled.
  package var memoryByteCount: Int
  /// Time of a processor, by which a slow one has taken all steps.
  package var cpuSeconds: Int
  /// How long the program waits for answers, taken together: other programs and a slow disk may keep the process.
  package var waitMilliseconds: Int
  /// One frame: a row, whose text may become longer as UTF-8, or some rows.
  package var frameByteCount: Int
  /// All answers together. Values that columns added later have by default are in none of the database's bytes.
  package var answerByteCount: Int

  /// The largest value that SQLite stores (sqlite.org/limits.html).
  private static let valueByteCount = 1_000_000_000
  private static let megabyte = 1 << 20

  /// - Parameter byteCount: How large the database is.
  package init(byteCount: Int) {
    // No file system has larger files.
    let byteCount = min(max(0, byteCount), 1 << 48)
    let valueByteCount = min(byteCount, Self.valueByteCount)
    steps = 100_000_000 + 1_000 * byteCount
    memoryByteCount = 256 * Self.megabyte + 6 * valueByteCount
    cpuSeconds = 30 + steps / 10_000_000
    waitMilliseconds = 4_000 * cpuSeconds
    frameByteCount = 16 * Self.megabyte + 2 * valueByteCount
    answerByteCount = 256 * Self.megabyte + 1_000 * byteCount
  }
}
