import Foundation
import GodwitBase
import GodwitStorage

/// The process that reads a database for another one, which asks it for the rows of statements.
enum ReaderServer {
  private static let batchByteCount = 64 << 10
  /// Orders and statements are Godwit's own.
  private static let requestLimit = 16 << 20

  static func run() -> Never {
    let socket = ReaderSocket(ReaderSocket.childDescriptor, frameLimit: requestLimit)
    do {
      try ReaderFence.detach()
      try serve(socket)
      _exit(0)
    } catch is ReaderSocket.Ended {
      _exit(0)
    } catch {
      try? socket.send(.failure, ReaderFailure.payload(error))
      _exit(1)
    }
  }

  private static func serve(_ requests: ReaderSocket) throws {
    let (kind, payload) = try requests.receive()
    guard kind == .open else { throw ByteReader.malformed("nothing is to be opened") }
    let order = try ReaderOrder(payload)
    try ReaderFence.enter(order.limits)
    let connection = try Connection(
      foreign: order.path, key: order.key, pageSize: order.pageSize, whenOpened: ReaderFence.seal)
    // All rows are of one state, which keeps others from writing where the file has locks.
    try connection.execute("BEGIN")
    let answers = ReaderSocket(ReaderSocket.childDescriptor, frameLimit: order.limits.frameByteCount)
    try answers.send(.ready)
    try connection.withStepBudget(order.limits.steps) {
      while true {
        let (kind, payload) = try requests.receive()
        guard kind == .ask else { throw ByteReader.malformed("a statement was to come") }
        do {
          try answer(try ReaderQuestion(payload), connection, answers)
        } catch let error as GodwitError where error.code == .sql {
          // Another statement may do.
          try answers.send(.failure, ReaderFailure.payload(error))
        }
      }
    }
  }

  private static func answer(_ question: ReaderQuestion, _ connection: Connection, _ socket: ReaderSocket) throws {
    var batch = ByteWriter(capacity: 2 * batchByteCount)
    var row = ByteWriter()
    try connection.withStatement(question.sql, authority: question.authority) { statement in
      while try statement.step() {
        row.removeAll()
        statement.writeForeignRow(to: &row)
        if batch.count > 0, batch.count + row.count > batchByteCount {
          try socket.send(.rows, batch.bytes)
          batch.removeAll()
        }
        batch.lengthPrefixed(row.bytes)
      }
    }
    if batch.count > 0 { try socket.send(.rows, batch.bytes) }
    try socket.send(.end)
  }
}
