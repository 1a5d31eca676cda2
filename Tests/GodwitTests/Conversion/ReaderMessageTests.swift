import Foundation
import GodwitBase
import GodwitCrypto
import GodwitKeys
import Testing

@testable import Godwit
@testable import GodwitEngine

@Suite("What a reading process says")
struct ReaderMessageTests {
  private static let values: [Value] = [.null, .integer(-7), .real(2.5), .text("größe"), .blob([0, 255])]

  private static func payload(_ rows: [[Value]]) -> [UInt8] {
    var writer = ByteWriter()
    for row in rows {
      var values = ByteWriter()
      for value in row { values.value(value) }
      writer.lengthPrefixed(values.bytes)
    }
    return writer.bytes
  }

  @Test("comes as it was sent: orders, statements, rows and errors")
  func roundTrip() throws {
    var limits = ReaderLimits(byteCount: 5_000)
    limits.cpuSeconds = 7
    let order = try ReaderOrder(
      ReaderOrder(path: "/tmp/ü.db", key: SecretBytes(random: 32), pageSize: 1_024, limits: limits).payload)
    #expect(order.path == "/tmp/ü.db" && order.pageSize == 1_024 && order.key != nil)
    #expect(order.limits.cpuSeconds == 7 && order.limits.steps == limits.steps)
    let question = try ReaderQuestion(ReaderQuestion(sql: "SELECT 1", authority: .user).payload)
    #expect(question.sql == "SELECT 1" && question.authority == .user)
    var rows = ReaderRows(Self.payload([Self.values, [.integer(1)]]))
    #expect(try rows.nextValues() == Self.values)
    #expect(try rows.nextValues() == [.integer(1)])
    #expect(try rows.nextValues() == nil)
    let error = try ReaderFailure.error(ReaderFailure.payload(GodwitError(.busy, "later", hint: "wait")))
    #expect(error.code == .busy && error.message == "later" && error.hint == "wait")
    #expect(try ReaderFailure.error(ReaderFailure.payload(GodwitError(.noKeyFits, "x"))).code == .damagedDatabase)
  }

  @Test("is refused where a row has other columns, no values, a number that is none, or text that is none")
  func refused() throws {
    var short = ReaderRows(Self.payload([Self.values]))
    #expect(throws: GodwitError.self) { try short.next(columnCount: 4) }
    var empty = ReaderRows([0])
    #expect(throws: GodwitError.self) { try empty.nextValues() }
    var number = ReaderRows([9, 2] + [UInt8](repeating: 0xFF, count: 8))
    #expect(throws: GodwitError.self) { try number.next(columnCount: 1) }
    var text = ReaderRows([3, 3, 1, 0xFF])
    #expect(try text.next(columnCount: 1)?.count == 3)
    text = ReaderRows([3, 3, 1, 0xFF])
    let error = #expect(throws: GodwitError.self) { try text.nextValues() }
    #expect(error?.code == .valueMismatch)
    var many = ReaderRows(Self.payload([[Value](repeating: .null, count: 2_001)]))
    #expect(throws: GodwitError.self) { try many.nextValues() }
  }

  @Test("is read or refused, whatever byte of it is another, and wherever it ends")
  func mutations() throws {
    let payload = Self.payload([Self.values, Self.values])
    var cases = payload.indices.map { Array(payload[..<$0]) }
    for index in payload.indices {
      for byte in [UInt8(0), 1, 0x7F, 0x80, 0xFF] {
        var changed = payload
        changed[index] = byte
        cases.append(changed)
      }
    }
    var refusedCount = 0
    for bytes in cases {
      for isCopied in [true, false] {
        var rows = ReaderRows(bytes)
        do {
          while try isCopied ? rows.next(columnCount: 5) != nil : rows.nextValues() != nil {}
        } catch {
          refusedCount += 1
          #expect(error is GodwitError)
        }
      }
      #expect(throws: GodwitError.self) { try ReaderFailure.error(bytes + [0x80]) }
    }
    #expect(refusedCount > cases.count / 2)
  }

  @Test("comes in frames of a kind and a length that are known")
  func frames() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[1]) }
    let sender = ReaderSocket(ends[0], frameLimit: 1_000)
    let receiver = ReaderSocket(ends[1], frameLimit: 100)
    try sender.send(.rows, Array(1...100))
    let (kind, payload) = try receiver.receive()
    #expect(kind == .rows && payload == Array(1...100))
    #expect(throws: GodwitError.self) { try sender.send(.rows, [UInt8](repeating: 0, count: 1_001)) }
    try sender.send(.rows, [UInt8](repeating: 0, count: 101))
    let error = #expect(throws: GodwitError.self) { try receiver.receive() }
    #expect(error?.code == .limitExceeded)
    #expect(throws: GodwitError.self) { try receiver.receive() }  // a frame of the kind 0
    close(ends[0])
    #expect(throws: (any Error).self) { while true { _ = try receiver.receive() } }
    // A signal would end the program here.
    #expect(throws: ReaderSocket.Ended.self) { try receiver.send(.end) }
  }
}
