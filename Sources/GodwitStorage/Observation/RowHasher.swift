import CSQLCipher

/// What distinguishes two results: equal for the same rows, and different for others but for one chance in 2^64 or
/// less. It means something within one process only.
package struct RowFingerprint: Equatable, Sendable {
  fileprivate let first: Int
  fileprivate let second: Int
}

/// Hashes the rows that statements step through. Starts, rows, ends and values are marked and sized, so that no two
/// courses of statements hash the same bytes.
final class RowHasher {
  private enum Mark {
    static let start: UInt8 = 0x10
    static let row: UInt8 = 0x11
    static let end: UInt8 = 0x12
    static let value: UInt8 = 0x13
  }

  // Two keyed SipHashes that begin differently; a collision needs both at once.
  private var first = Hasher()
  private var second = Hasher()

  init() { second.combine(UInt8(1)) }

  var fingerprint: RowFingerprint { RowFingerprint(first: first.finalize(), second: second.finalize()) }

  func start() { combine(Mark.start) }
  func end() { combine(Mark.end) }

  func row(of statement: Statement) {
    combine(Mark.row)
    for index in 0..<Int32(statement.columnCount) {
      let storageClass = statement.storageClass(at: index)
      // A column that is added, and NULL in all rows of a result, makes it no other.
      if storageClass == .null { continue }
      combine(Mark.value)
      combine(index)
      combine(storageClass.rawValue)
      switch storageClass {
      case .null: break
      case .integer: combine(statement.integer(at: index))
      case .real: combine(statement.real(at: index).bitPattern)
      case .text, .blob:
        statement.withBytes(at: index) { bytes in
          combine(bytes.count)
          first.combine(bytes: bytes)
          second.combine(bytes: bytes)
        }
      }
    }
  }

  private func combine(_ value: some FixedWidthInteger) {
    first.combine(value)
    second.combine(value)
  }
}
