import Foundation
import GodwitBase

/// One end of the socket between a program and the process that reads a database for it.
///
/// A frame is its kind, its length (u32, big-endian) and as many bytes.
final class ReaderSocket {
  enum Kind: UInt8 {
    /// To the process: what to open; a statement.
    case open = 1, ask = 2
    /// From it: that the database is open; rows; that there are no more; what failed.
    case ready = 16, rows = 17, end = 18, failure = 19
  }

  /// The other end has gone.
  struct Ended: Error {}

  /// Where the process has its end.
  static let childDescriptor: Int32 = 0
  static let headerByteCount = 5
  private static let pieceByteCount = 64 << 10

  private let descriptor: Int32
  private let frameLimit: Int
  /// Called when nothing can be sent or has come; nil for an end whose calls wait.
  private let wait: ((_ descriptor: Int32, _ events: Int16) throws -> Void)?
  private var flags: Int32 { Int32(MSG_NOSIGNAL) | (wait == nil ? 0 : Int32(MSG_DONTWAIT)) }

  init(_ descriptor: Int32, frameLimit: Int, wait: ((_ descriptor: Int32, _ events: Int16) throws -> Void)? = nil) {
    self.descriptor = descriptor
    self.frameLimit = frameLimit
    self.wait = wait
  }

  /// Throws ``Ended`` when nobody reads any more; `limitExceeded` for more than a frame's length.
  func send(_ kind: Kind, _ payload: [UInt8] = []) throws {
    guard payload.count <= frameLimit else { throw Self.tooLong(payload.count, frameLimit) }
    var header = ByteWriter(capacity: Self.headerByteCount)
    header.byte(kind.rawValue)
    header.bigEndian(UInt32(payload.count))
    try send(header.bytes)
    try send(payload)
  }

  private func send(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = Foundation.send(descriptor, piece.baseAddress, piece.count, flags)
        if count > 0 { rest = rest.dropFirst(count) } else { try recover(Int16(POLLOUT)) }
      }
    }
  }

  /// Memory is taken as the bytes come, not as their number is announced.
  ///
  /// Throws ``Ended``; `corruptFile` for what is no frame, `limitExceeded` for one that is too long.
  func receive() throws -> (kind: Kind, payload: [UInt8]) {
    var header = ByteReader(try receive(Self.headerByteCount))
    let number = try header.byte()
    guard let kind = Kind(rawValue: number) else { throw ByteReader.malformed("a frame of the kind \(number)") }
    let count = Int(try header.bigEndian(UInt32.self))
    guard count <= frameLimit else { throw Self.tooLong(count, frameLimit) }
    return (kind, try receive(count))
  }

  private func receive(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(count, Self.pieceByteCount))
    var piece = [UInt8](repeating: 0, count: min(count, Self.pieceByteCount))
    while bytes.count < count {
      let wanted = min(piece.count, count - bytes.count)
      let received = piece.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, wanted, flags) }
      guard received != 0 else { throw Ended() }
      if received > 0 { bytes += piece[..<received] } else { try recover(Int16(POLLIN)) }
    }
    return bytes
  }

  private func recover(_ events: Int16) throws {
    switch errno {
    case EINTR: return
    case EAGAIN where wait != nil: try wait?(descriptor, events)
    default: throw Ended()
    }
  }

  private static func tooLong(_ count: Int, _ limit: Int) -> GodwitError {
    GodwitError(
      .limitExceeded, "\(count) bytes of the database come at once, more than \(limit), which is beyond its size",
      hint: "it may be made to do harm: copy what is wanted into a new database with the program it is of")
  }
}
