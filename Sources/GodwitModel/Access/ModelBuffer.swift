import Foundation
import GodwitBase

/// Rows being fetched, in memory of their own, so that the loop over them works on plain addresses: a generic array
/// would look up its type for every row. realloc(3) grows large blocks without copying them, which structs without
/// weak references allow.
final class ModelBuffer<Root> {
  private var start: UnsafeMutablePointer<Root>?
  private var capacity = 0
  private var count = 0

  deinit {
    start?.deinitialize(count: count)
    free(start)
  }

  /// Appends a value and returns where it stands until the next append.
  func append(_ value: Root) throws -> UnsafeMutablePointer<Root> {
    if count == capacity { try grow() }
    guard let start else { throw Self.outOfMemory }
    let place = start + count
    place.initialize(to: value)
    count += 1
    return place
  }

  /// The values as an array; the buffer is empty afterwards.
  func take() -> [Root] {
    guard let start else { return [] }
    let count = count
    self.count = 0
    return [Root](unsafeUninitializedCapacity: count) { buffer, initialized in
      buffer.baseAddress?.moveInitialize(from: start, count: count)
      initialized = count
    }
  }

  private func grow() throws {
    // What malloc(3) aligns to; only a property that is no column could want more.
    guard MemoryLayout<Root>.alignment <= 16 else {
      throw GodwitError(.invalidSchema, "\(Root.self) has a property of more than 16-byte alignment")
    }
    let larger = max(16, capacity * 2)
    guard let block = realloc(start, larger * MemoryLayout<Root>.stride) else { throw Self.outOfMemory }
    capacity = larger
    start = block.assumingMemoryBound(to: Root.self)
  }

  private static var outOfMemory: GodwitError {
    GodwitError(.limitExceeded, "there is no memory for the rows", hint: "fetch them in parts with limit and offset")
  }
}
