import Foundation
import GodwitBase

/// A connected socket as bytes in both directions. Writing to one whose other end is gone fails, and signals nobody.
package final class SocketStream: ByteSource, ByteSink, Sendable {
  private let descriptor: Int32
  private let name: String
  private let meter: TransferMeter

  /// Takes over a socket.
  init(_ descriptor: Int32, name: String, meter: TransferMeter = TransferMeter()) {
    self.descriptor = descriptor
    self.name = name
    self.meter = meter
    var limit = timeval(tv_sec: TalkStream.silence, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] { setsockopt(descriptor, SOL_SOCKET, option, &limit, size) }
  }

  deinit { Foundation.close(descriptor) }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      let count = recv(descriptor, buffer.baseAddress, piece(buffer.count), 0)
      if count >= 0 {
        meter.spend(count)
        return count
      }
      guard errno == EINTR else { throw failure(errno) }
    }
  }

  package func write(_ buffer: UnsafeRawBufferPointer) throws {
    var rest = buffer
    while !rest.isEmpty {
      let count = send(descriptor, rest.baseAddress, piece(rest.count), Int32(MSG_NOSIGNAL))
      if count > 0 {
        meter.spend(count)
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else {
        guard errno == EINTR else { throw failure(errno) }
      }
    }
  }

  private func piece(_ count: Int) -> Int { min(count, meter.pieceLimit ?? count) }

  /// Ends both directions; whoever waits for bytes finds the end.
  package func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func failure(_ number: Int32) -> GodwitError {
    let hint = "try again later"
    guard number != EAGAIN else {
      let minutes = TalkStream.silence / 60
      return GodwitError(.unreachable, "nothing has moved to or from \(name) for \(minutes) minutes", hint: hint)
    }
    return GodwitError(
      .unreachable, "the connection to \(name) broke: \(String(cString: strerror(number)))", hint: hint,
      underlying: number == EPIPE || number == ECONNRESET ? TalkStream.OtherEndGone() : nil)
  }
}
