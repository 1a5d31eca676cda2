import GodwitBase

/// How much a file may become while it is read, in proportion to what it is (Specs/limits.md, "Sync files"). Whoever
/// can make a file a member's would otherwise make few bytes many, in memory and in the log.
struct SyncFileExpansion {
  /// A part, and a file, may become so much in any case.
  static let allowance = 1 << 20
  /// A greater part is held in memory, so it may be no more than so many times its packed size.
  static let partRatio = 8
  /// All parts of a file, and all change sets and contexts restored from them, are no more than so many times what is
  /// packed.
  static let fileRatio = 256
  /// No part is larger, unpacked: what a change set of the greatest size takes in a frame.
  static let partByteLimit = 5 << 28

  /// Elements of sets that a file may name in any case, and packed bytes for each beyond: one takes some 300 bytes of
  /// memory while it is merged, and a file's changes of one cell are merged together.
  static let elementAllowance = 1 << 17
  static let elementByteCount = 4

  /// Transactions that a file may have in any case; beyond, one for each packed byte. Each takes some 15 µs.
  static let transactionAllowance = 1 << 13

  private var packed = 0
  private var unpacked = 0
  private var restored = 0
  private var elements = 0
  private var transactions = 0

  /// To be asked before a part is unpacked. Throws `limitExceeded`.
  mutating func unpack(_ size: Int, from packedSize: Int) throws {
    guard size <= min(Self.partByteLimit, max(Self.allowance, packedSize * Self.partRatio)) else {
      throw GodwitError(.limitExceeded, "a part of \(packedSize) bytes claims to unpack to \(size)")
    }
    packed += packedSize
    unpacked += size
    try check(unpacked)
  }

  /// To be called for each change set that has been restored, with the elements of sets in it. Throws `limitExceeded`.
  mutating func restore(_ size: Int, elements count: Int) throws {
    restored += size
    try check(restored)
    guard count <= elementsLeft else {
      throw GodwitError(
        .limitExceeded, "the file's \(packed) packed bytes name \(elements + count) elements of sets, or more")
    }
    elements += count
  }

  /// To be called for each transaction. Throws `limitExceeded`.
  mutating func addTransaction() throws {
    transactions += 1
    guard transactions <= max(Self.transactionAllowance, packed) else {
      throw GodwitError(
        .limitExceeded, "the file's \(packed) packed bytes have more than \(transactions - 1) transactions")
    }
  }

  /// How many more elements the parts that were read may name.
  var elementsLeft: Int { max(Self.elementAllowance, packed / Self.elementByteCount) - elements }

  private func check(_ total: Int) throws {
    guard total <= max(Self.allowance, packed * Self.fileRatio) else {
      throw GodwitError(.limitExceeded, "the file's \(packed) packed bytes hold more than \(total) bytes")
    }
  }

  /// Takes in a part that is written, and brings it within what readers take: by a skippable frame of zeros behind it
  /// (RFC 8878, section 3.1.2).
  mutating func pad(
    _ part: inout [UInt8], unpackedSize: Int, restoredSize: Int, elements count: Int = 0, transactions added: Int = 0
  ) {
    unpacked += unpackedSize
    restored += restoredSize
    elements += count
    transactions += added
    func least(_ size: Int, _ ratio: Int) -> Int { size > Self.allowance ? (size + ratio - 1) / ratio : 0 }
    let forElements = elements > Self.elementAllowance ? elements * Self.elementByteCount : 0
    let forTransactions = transactions > Self.transactionAllowance ? transactions : 0
    let lacking =
      max(
        least(unpackedSize, Self.partRatio), least(max(unpacked, restored), Self.fileRatio) - packed,
        max(forElements, forTransactions) - packed) - part.count
    if lacking > 0 {
      var writer = ByteWriter(capacity: lacking + 8)
      for number in [UInt32(0x184D_2A50), UInt32(lacking)] { writer.bigEndian(number.byteSwapped) }
      part += writer.bytes + [UInt8](repeating: 0, count: lacking)
    }
    packed += part.count
  }
}
