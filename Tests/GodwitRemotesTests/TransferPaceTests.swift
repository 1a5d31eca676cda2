import Foundation
import GodwitBase
import Synchronization
import TestServers
import Testing

@testable import GodwitRemotes

/// Specs/remotes.md, "A limit". No test here looks at the time of day: the clock is one that waiting advances.
@Suite("A limit of bytes a second")
struct TransferPaceTests {
  private let time = PassingTime()

  private func meter(_ bytesPerSecond: Int) throws -> TransferMeter {
    let time = time
    return TransferMeter(
      pace: try TransferPace(bytesPerSecond: bytesPerSecond, now: { time.now }, wait: { time.wait($0) }))
  }

  @Test("is kept by every carrier, both ways together", arguments: CarrierTests.Kind.here)
  func carriers(kind: CarrierTests.Kind) throws {
    let place = try CarrierTests.Place(kind)
    let meter = try meter(10_000)
    let path = try place.work.file("spool", Array(repeating: 7, count: 50_000))
    _ = try place.carrier.write("m/a", from: path, meter: meter)
    // What a store answers counts, too.
    #expect(time.now >= .seconds(5) && time.now < .seconds(6), "\(time.now)")
    let sink = MemorySink()
    _ = try place.carrier.read("m/a", into: sink, limit: 1 << 20, meter: meter)
    #expect(sink.bytes.count == 50_000)
    #expect(time.now >= .seconds(10) && time.now < .seconds(11), "\(time.now)")
    // Cancelling ends each of many short waits.
    #expect(time.longestWait <= .milliseconds(20) && time.waitCount >= 500)
    let before = time.waitCount
    _ = try place.carrier.find("m/a", meter: TransferMeter())
    _ = try place.carrier.read("m/a", into: MemorySink(), limit: 1 << 20, meter: TransferMeter())
    #expect(time.waitCount == before)
  }

  @Test("is kept by a connection, both ways together")
  func connection() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let meter = try meter(10_000)
    let streams = ends.map { SocketStream($0, name: "here", meter: meter) }
    let (one, other) = (
      TalkStream(source: streams[0], sink: streams[0]), TalkStream(source: streams[1], sink: streams[1])
    )
    for (from, to) in [(one, other), (other, one)] {
      let message = TalkStream.Message.chunk(Array(repeating: 7, count: 20_000))
      try from.write(message)
      #expect(try to.read() == message)
    }
    // Each end counts what it sends and what it gets.
    #expect(time.now >= .seconds(8) && time.now < .seconds(9), "\(time.now)")
  }

  @Test("is of the time in which nothing moved, too: a pause gives no right to be faster later")
  func pauses() throws {
    let meter = try meter(1_000)
    meter.spend(500)
    time.wait(.seconds(60))
    meter.spend(1_000)
    #expect(time.now == .milliseconds(61_500))
  }

  @Test("does not keep a cancelled transfer")
  func cancelled() throws {
    let place = try CarrierTests.Place(.folder)
    let path = try place.work.file("spool", Array(repeating: 7, count: 50_000))
    let meter = Mutex<TransferMeter?>(nil)
    // A clock that stands still: nothing but cancelling ends a wait.
    let pace = try TransferPace(bytesPerSecond: 10_000, now: { .zero }, wait: { _ in meter.withLock { $0?.cancel() } })
    let slow = TransferMeter(pace: pace)
    meter.withLock { $0 = slow }
    #expect(throws: CancellationError.self) { try place.carrier.write("m/a", from: path, meter: slow) }
    #expect(try place.carrier.find("m/a", meter: TransferMeter()) == nil)
  }

  @Test("that is too low is refused with what to give", arguments: [Int.min, -1, 0, 999])
  func low(bytesPerSecond: Int) throws {
    let error = #expect(throws: GodwitError.self) { try TransferPace(bytesPerSecond: bytesPerSecond) }
    #expect(error?.code == .invalidArgument && error?.hint?.contains("1000") == true)
    _ = try TransferPace(bytesPerSecond: 1_000)
    _ = try TransferPace(bytesPerSecond: .max)
  }
}
