import GodwitCore

/// A transaction's key in the log: 23 bits of origin number, then 40 bits of sequence, so that an origin's
/// transactions stand together. The own origin has the greatest number, so a local commit always appends.
struct LogKey: RawRepresentable {
  let rawValue: Int64
  static let sequenceBits = 40
  static let firstOwnNumber = 1 << 22
  static let originLimit = 1 << 23

  init(rawValue: Int64) { self.rawValue = rawValue }

  init(origin number: Int, _ sequence: SequenceNumber) {
    rawValue = Int64(number) << Self.sequenceBits | Int64(sequence.rawValue)
  }

  var originNumber: Int { Int(rawValue >> Self.sequenceBits) }
  var sequence: SequenceNumber { SequenceNumber(rawValue: UInt64(rawValue) & (1 << Self.sequenceBits - 1)) }
}
