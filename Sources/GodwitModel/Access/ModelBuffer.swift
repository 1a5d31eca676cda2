/// Rows being fetched, in memory of their own, so that the loop over them works on plain addresses: a generic array
/// would look up its type for every row.
final class ModelBuffer<Root> {
  private var start: UnsafeMutablePointer<Root>
  private var capacity = 16
  private var count = 0

  init() { start = .allocate(capacity: capacity) }

  deinit {
    start.deinitialize(count: count)
    start.deallocate()
  }

  /// Appends a value and returns where it stands until the next append.
  func append(_ value: Root) -> UnsafeMutablePointer<Root> {
    if count == capacity { grow() }
    let place = start + count
    place.initialize(to: value)
    count += 1
    return place
  }

  /// The values as an array; the buffer is empty afterwards.
  func take() -> [Root] {
    let count = count
    self.count = 0
    return [Root](unsafeUninitializedCapacity: count) { buffer, initialized in
      buffer.baseAddress?.moveInitialize(from: start, count: count)
      initialized = count
    }
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Root>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: start, count: count)
    start.deallocate()
    start = larger
    capacity *= 2
  }
}
