import FlyingSocks
import Foundation

/// The body of the last answer on a connection: FlyingFox closes one on which writing fails, and this fails once all of
/// it is written.
struct LastBytes: AsyncBufferedSequence {
  typealias Element = UInt8

  private let bytes: Data

  init(_ bytes: Data) { self.bytes = bytes }

  func makeAsyncIterator() -> Iterator { Iterator(rest: bytes) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    fileprivate var rest: Data

    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

    mutating func nextBuffer(suggested count: Int) async throws -> Data? {
      guard !rest.isEmpty else { throw SocketError.disconnected }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }
}
