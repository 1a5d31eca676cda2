import Foundation
import Godwit

/// Reads a thing that may hang, as a database does on a disk that does not answer. There is one reading at a time, and
/// nobody waits for it beyond a limit: whoever asks while it is late fails at once, and takes up nothing more.
package actor BoundedReading<Value: Sendable> {
  private struct Reading {
    let number: Int
    let start: Date
    let task: Task<Value, any Error>
    var isLate = false
  }

  private let limit: Duration
  private var reading: Reading?
  private var count = 0

  package init(limit: Duration = .seconds(5)) { self.limit = limit }

  /// What is read now, or by a reading that was under way.
  ///
  /// - Throws: What the read throws; `busy`, with the time when the reading began, once the limit is over.
  package func value(_ read: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let reading = reading ?? begin(read)
    guard !reading.isLate, let value = try await value(of: reading.task) else {
      if self.reading?.number == reading.number { self.reading?.isLate = true }
      throw GodwitError(
        .busy, "the database has not answered since \(reading.start.formatted(.iso8601))",
        hint: "see whether its disk answers; what the agent shows otherwise is right")
    }
    return value
  }

  private func begin(_ read: @escaping @Sendable () async throws -> Value) -> Reading {
    count += 1
    let task = Task { [number = count] in
      defer { end(number) }
      return try await read()
    }
    let reading = Reading(number: count, start: Date(), task: task)
    self.reading = reading
    return reading
  }

  private func end(_ number: Int) {
    if reading?.number == number { reading = nil }
  }

  /// Nil when the limit is over before; the task runs on, for what hangs cannot be cancelled.
  private func value(of task: Task<Value, any Error>) async throws -> Value? {
    let (results, result) = AsyncStream.makeStream(of: Result<Value, any Error>?.self)
    let waiter = Task { result.yield(await task.result) }
    let timer = Task { [limit] in
      try await Task.sleep(for: limit)
      result.yield(nil)
    }
    defer {
      waiter.cancel()
      timer.cancel()
    }
    var first = results.makeAsyncIterator()
    guard let value = await first.next() else { throw CancellationError() }
    return try value?.get()
  }
}
