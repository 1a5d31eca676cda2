import FlyingSocks
import ToolSupport

/// Events as bytes of server-sent events (WHATWG HTML, "Server-sent events"), and comments: at the beginning, and where
/// none came for a while, by which a page that is gone is noticed.
struct UIEvents: AsyncBufferedSequence {
  typealias Element = UInt8

  private static let pause = Duration.seconds(15)
  private let events: AsyncStream<UISession.Event?>

  init(_ events: AsyncStream<UISession.Event>) {
    let (joined, sender) = AsyncStream.makeStream(of: UISession.Event?.self, bufferingPolicy: .bufferingNewest(16))
    // By the first one a page knows that it misses nothing from now on.
    sender.yield(nil)
    let forwarding = Task {
      for await event in events { sender.yield(event) }
      sender.finish()
    }
    let ticking = Task {
      while (try? await Task.sleep(for: Self.pause)) != nil { sender.yield(nil) }
    }
    sender.onTermination = { _ in
      forwarding.cancel()
      ticking.cancel()
    }
    self.events = joined
  }

  func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    fileprivate var events: AsyncStream<UISession.Event?>.Iterator
    private var rest: ArraySlice<UInt8> = []

    fileprivate init(events: AsyncStream<UISession.Event?>.Iterator) { self.events = events }

    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
      if rest.isEmpty {
        guard let event = await events.next() else { return nil }
        rest = Array(Self.text(event).utf8)[...]
      }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }

    private static func text(_ event: UISession.Event?) -> String {
      switch event {
      case nil: ": still here\n\n"
      case .changed: "event: changed\ndata: {}\n\n"
      case .synced(let lines, let problems):
        "event: synced\ndata: \(object(lines, problems).text)\n\n"
      }
    }

    private static func object(_ lines: [String], _ problems: [String]) -> JSONValue {
      ["lines": .array(lines.map { .string($0) }), "problems": .array(problems.map { .string($0) })]
    }
  }
}
