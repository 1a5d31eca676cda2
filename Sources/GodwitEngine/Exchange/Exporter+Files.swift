import GodwitBase
import GodwitCore
import GodwitSyncFile

extension Exporter {
  /// Makes one file of several and returns its path; the body says whether the file stays. The number counts from 1;
  /// nil stands for a file that has all.
  package typealias FileWriter = (_ number: Int?, _ body: (any ByteSink) throws -> Bool) throws -> String

  /// More files than that are no help to anybody.
  static let fileCountLimit = 9_999

  /// Writes as many ordinary sync files as it takes for none to be larger than a limit, from one read transaction: each
  /// begins where the one before it ends, and all of them say that this replica holds the same. What cannot be cut is
  /// larger, and the report says so: a single transaction, a state, and what another author has signed too far ahead.
  ///
  /// Throws `invalidArgument` for a limit that has no room for what each file begins with, and `limitExceeded` for more
  /// than 9,999 files; those that are complete stay.
  ///
  /// - Parameters:
  ///   - limit: In bytes.
  ///   - makeDurable: As in ``export(to:makeDurable:progress:)``.
  ///   - write: Makes the files, one after the other.
  package func export(
    inFilesOf limit: Int, makeDurable: (OriginTable.Head, AnchoredState) throws -> Int64, progress: ProgressHandler?,
    write: @escaping FileWriter
  ) throws -> ExportReport {
    let draft = try ExportDraft(self, makeDurable)
    let total = try draft.header(draft.ranges).transactionCount
    var run = FileRun(draft: draft, limit: limit, write: write, meter: ExportMeter(total: total, progress))
    if draft.ranges.isEmpty {
      try run.add(ExportPiece(all: draft.ranges, isWithin: false))
    } else {
      let planner = try PiecePlanner(draft)
      try planner.requireRoom(in: limit)
      repeat {
        guard run.files.count < Self.fileCountLimit else {
          throw GodwitError(
            .limitExceeded, "more than \(Self.fileCountLimit) files of \(limit) bytes would be needed",
            hint: "give a larger size; the files that are there are whole, and can be imported")
        }
      } while try !run.addNext(of: planner)
    }
    run.meter.finish()
    var report = ExportReport(
      transactions: total, isStateFile: draft.stateFile != nil, recipients: recipients.count,
      bytes: run.files.reduce(0) { $0 + $1.bytes })
    report.files = run.files
    return report
  }
}

/// The files of one export, as they come about.
private struct FileRun {
  let draft: ExportDraft
  let limit: Int
  let write: Exporter.FileWriter
  var meter: ExportMeter
  private(set) var files: [ExportReport.File] = []
  private var sent: [Origin: SequenceNumber] = [:]

  init(draft: ExportDraft, limit: Int, write: @escaping Exporter.FileWriter, meter: ExportMeter) {
    self.draft = draft
    self.limit = limit
    self.write = write
    self.meter = meter
  }

  /// Plans and writes the next file; true for the last one.
  mutating func addNext(of planner: PiecePlanner) throws -> Bool {
    var target = limit
    while true {
      let piece = try planner.piece(after: sent, limit: target)
      if let excess = try add(piece) {
        // What is written decides, and not what was planned: the other places of the origins may pack otherwise.
        target -= excess
      } else {
        sent = piece.end
        return piece.isLast
      }
    }
  }

  /// Writes a file. Returns by how much one is too large that could be smaller, and is not kept.
  @discardableResult
  mutating func add(_ piece: ExportPiece) throws -> Int? {
    let before = meter
    var bytes = 0
    let number = files.isEmpty && piece.isLast ? nil : files.count + 1
    let path = try write(number) { sink in
      bytes = try draft.write(piece.ranges, after: sent, to: sink) { meter.advance() }
      return bytes <= limit || !piece.isWithin
    }
    guard bytes <= limit || !piece.isWithin else {
      meter.moveBack(to: before)
      return bytes - limit
    }
    files.append(
      ExportReport.File(
        path: path, transactions: piece.transactionCount, bytes: bytes, exceedsLimit: bytes > limit))
    return nil
  }
}
