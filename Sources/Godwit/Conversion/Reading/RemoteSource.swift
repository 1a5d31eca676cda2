import Foundation
import GodwitBase
import GodwitStorage

/// A database that another process reads. What comes from there is as much its author's as the database is.
final class RemoteSource: SourceRows {
  /// Values of a statement whose rows are all held at once.
  private static let valueLimit = 1_000_000
  private static let pollMilliseconds: Int32 = 100

  private let process: ReaderProcess
  private let socket: ReaderSocket
  private let path: String
  private let limits: ReaderLimits
  /// How many bytes of answers may still come.
  private var remaining: Int

  /// Throws what opening a database throws.
  ///
  /// - Parameters:
  ///   - path: What errors call the database.
  ///   - check: Called while answers are waited for; what it throws ends the waiting.
  init(
    _ order: ReaderOrder, _ limits: ReaderLimits, path: String, program: DatabaseSource.Reader.Program,
    check: @escaping () throws -> Void
  ) throws {
    process = try ReaderProcess(program)
    self.limits = limits
    self.path = path
    remaining = limits.answerByteCount
    let patience = Patience(limits, path: path, check)
    socket = ReaderSocket(process.descriptor, frameLimit: limits.frameByteCount, wait: patience.wait)
    try conversing {
      try socket.send(.open, order.payload)
      guard try receive().kind == .ready else { throw ByteReader.malformed("the database was to be opened") }
    }
  }

  func rows(_ sql: String, authority: Authority) throws -> [[Value]] {
    var rows: [[Value]] = []
    var (values, bytes) = (0, 0)
    try ask(sql, authority) { payload in
      bytes += payload.count
      var reader = ReaderRows(payload)
      while let row = try reader.nextValues() {
        values += row.count
        guard values <= Self.valueLimit, bytes <= limits.frameByteCount else { throw tooMuch("its schema") }
        rows.append(row)
      }
    }
    return rows
  }

  func copy(_ sql: String, through insert: Statement, afterRow: () throws -> Void) throws {
    let columnCount = insert.parameterCount
    try ask(sql, .trusted) { payload in
      var reader = ReaderRows(payload)
      while let row = try reader.next(columnCount: columnCount) {
        try row.withUnsafeBytes { bytes in
          try insert.bindBorrowed(encoded: bytes)
          try insert.run()
        }
        try afterRow()
      }
    }
  }

  private func ask(_ sql: String, _ authority: Authority, _ body: ([UInt8]) throws -> Void) throws {
    try conversing {
      try socket.send(.ask, ReaderQuestion(sql: sql, authority: authority).payload)
      while true {
        let (kind, payload) = try receive()
        switch kind {
        case .rows: try body(payload)
        case .end: return
        default: throw ByteReader.malformed("rows were to come")
        }
      }
    }
  }

  /// Throws what the other process says it failed with.
  private func receive() throws -> (kind: ReaderSocket.Kind, payload: [UInt8]) {
    let (kind, payload) = try socket.receive()
    remaining -= ReaderSocket.headerByteCount + payload.count
    guard remaining >= 0 else { throw tooMuch("its content") }
    if kind == .failure { throw try ReaderFailure.error(payload) }
    return (kind, payload)
  }

  /// After a failure nobody knows any more what comes next, so the process ends with it, but for a statement that is
  /// refused.
  private func conversing(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as GodwitError where error.code == .sql {
      throw error
    } catch is ReaderSocket.Ended {
      throw process.explanation(path, limits)
    } catch let error as GodwitError where [.corruptFile, .truncatedFile].contains(error.code) {
      process.end()
      throw GodwitError(
        .damagedDatabase, "the process that reads \(path) gives no rows, but \(error.message); nothing was made",
        hint: "the database may be made to do harm", underlying: error)
    } catch {
      process.end()
      throw error
    }
  }

  private func tooMuch(_ what: String) -> GodwitError {
    GodwitError(
      .limitExceeded, "\(what) in \(path) is larger than reading it allows, which is beyond its size",
      hint: "it may be made to do harm: copy what is wanted into a new database with the program it is of")
  }
}

extension RemoteSource {
  /// How long may be waited for answers.
  private final class Patience {
    private let limits: ReaderLimits
    private let path: String
    private let check: () throws -> Void
    private var waited = ContinuousClock.Duration.zero

    init(_ limits: ReaderLimits, path: String, _ check: @escaping () throws -> Void) {
      self.limits = limits
      self.path = path
      self.check = check
    }

    func wait(_ descriptor: Int32, _ events: Int16) throws {
      try check()
      guard waited < .milliseconds(limits.waitMilliseconds) else {
        throw GodwitError(
          .limitExceeded,
          "reading \(path) takes longer than \(limits.waitMilliseconds / 1_000) seconds; nothing was made",
          hint: "try again when the machine has less to do; or the database is made to do harm")
      }
      var polled = pollfd(fd: descriptor, events: events, revents: 0)
      waited += ContinuousClock().measure { poll(&polled, 1, RemoteSource.pollMilliseconds) }
    }
  }
}
