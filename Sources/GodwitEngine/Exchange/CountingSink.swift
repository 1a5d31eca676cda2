import GodwitBase

/// Counts the bytes on their way.
final class CountingSink: ByteSink {
  private let sink: any ByteSink
  private(set) var count = 0

  init(_ sink: any ByteSink) { self.sink = sink }

  func write(_ buffer: UnsafeRawBufferPointer) throws {
    try sink.write(buffer)
    count += buffer.count
  }
}
