import Foundation
import GodwitBase
import GodwitCrypto
import GodwitEngine
import GodwitFiles
import GodwitKeys
import GodwitRemotes
import GodwitStorage

/// Two replicas that hand each other what each lacks, over a connection (Specs/remotes.md, "Talks"). Whoever connects
/// speaks for the client.
///
/// Unchecked Sendable: its calls follow one another, each awaited.
final class RemoteTalk: @unchecked Sendable {
  /// What of a talk this side takes part in.
  enum Part: Sendable { case both, receiving, sending }

  private let replica: Replica
  private let stream: TalkStream
  private let folder: RemotesFolder
  private let part: Part
  private let report: @Sendable (Replica.SyncProgress.Direction, Int) -> Void
  private(set) var taken: [MergeReport] = []
  private(set) var published: ExportReport?
  private(set) var fetchedBytes = 0
  /// The incarnation that has sent a file: who else may write on for its member does not get what is sent here.
  private var speaker: Origin?

  init(
    _ replica: Replica, over stream: TalkStream, by folder: RemotesFolder, part: Part = .both,
    report: @escaping @Sendable (Replica.SyncProgress.Direction, Int) -> Void = { _, _ in }
  ) {
    self.replica = replica
    self.stream = stream
    self.folder = folder
    self.part = part
    self.report = report
  }

  /// Four files: this side's acknowledgement, what the other has and this side lacks, the reverse of that, and the
  /// other's acknowledgement. So each knows what the other holds before it sends anything of size.
  ///
  /// - Parameter isRejoining: Whether the last is a state where the other leaves out work of this side's.
  func speakAsClient(isRejoining: Bool) async throws {
    let other = try await greet(isRejoining: isRejoining).replica
    try await send(.acknowledgement, to: other)
    try await receive(isRejoining: isRejoining)
    published = try await send(.lacking, to: other)
    try await receive(isRejoining: isRejoining)
    try await run { try $0.write(.bye) }
  }

  /// The other end of ``speakAsClient(isRejoining:)``. What fails here is said over there.
  ///
  /// - Parameter introduced: Called once the whole of a first file has come.
  func speakAsServer(introduced: @Sendable () -> Void = {}) async throws {
    do {
      try await run { try $0.writeMagic() }
      let (other, isRejoining) = try await greet(isRejoining: false)
      try await receive(isRejoining: false, mayBeNone: false, introduced)
      published = try await send(.lacking, to: other)
      try await receive(isRejoining: false)
      let hasLeftOut = taken.last?.attention.leftOut.contains { $0.reason == .fenced } ?? false
      try await send(isRejoining && hasLeftOut ? .state : .acknowledgement, to: other)
      _ = try await run { try $0.read() }
    } catch let error as GodwitError {
      var writer = ByteWriter()
      for text in [error.code.rawValue, error.message, error.hint ?? ""] {
        writer.lengthPrefixed(Array(text.utf8.prefix(Self.textLimit)))
      }
      let failure = TalkStream.Message.failure(writer.bytes)
      try? await run { try $0.write(failure) }
      throw error
    }
  }

  /// Runs calls that block on a thread that may.
  private func run<Output: Sendable>(_ body: @escaping @Sendable (TalkStream) throws -> Output) async throws -> Output {
    try await BlockingThread.run { try body(self.stream) }
  }

  // MARK: Hello

  private static let domain = "godwit talk v1"

  /// Returns the other side's replica, as it says one of the same group, and whether it rejoins.
  private func greet(isRejoining: Bool) async throws -> (replica: ReplicaID, isRejoining: Bool) {
    let (group, own) = (replica.group, replica.identity.replica)
    var writer = ByteWriter()
    writer.raw(group.tag(of: Self.domain))
    own.value.write(to: &writer)
    writer.byte(isRejoining ? 1 : 0)
    let hello = TalkStream.Message.hello(writer.bytes)
    try await run { try $0.write(hello) }
    guard case .hello(let bytes) = try await message() else { throw Self.unexpected }
    var reader = ByteReader(bytes)
    guard Array(try reader.raw(16)) == group.tag(of: Self.domain) else {
      throw GodwitError(.otherGroup, "the replica there is another group's", hint: "see the path in the remote's URL")
    }
    let other = ReplicaID(try Identifier128(reading: &reader))
    guard other != own else {
      throw GodwitError(.refused, "the replica there is this one, or a copy of its folder", hint: "see the URL's host")
    }
    return (other, try reader.flag())
  }

  private static var unexpected: GodwitError {
    GodwitError(.corruptFile, "the other side said something else than its turn was", hint: "update both")
  }

  /// The next message; what failed over there is thrown here.
  private func message() async throws -> TalkStream.Message {
    let message = try await run { try $0.read() }
    guard case .failure(let bytes) = message else { return message }
    throw try Self.failure(bytes)
  }

  /// How many bytes of a failure's code, words or hint are sent.
  private static let textLimit = 4_096

  private static func failure(_ bytes: [UInt8]) throws -> GodwitError {
    var reader = ByteReader(bytes)
    let texts = try (0..<3).map { _ in String(decoding: try reader.lengthPrefixed(limit: textLimit), as: UTF8.self) }
    // What passes by itself over there does so for this side.
    let passes = [GodwitError.Code.busy, .unreachable].contains { $0.rawValue == texts[0] }
    return GodwitError(
      passes ? .unreachable : .refused, "over there: \(texts[1])", hint: texts[2].isEmpty ? nil : texts[2])
  }

  // MARK: Files

  /// Nil where this side only receives.
  @discardableResult
  private func send(_ content: Exporter.Content, to other: ReplicaID) async throws -> ExportReport? {
    guard part != .receiving else {
      try await run { try $0.write(.nothing) }
      return nil
    }
    let pending = try await BlockingThread.run { [folder] in try TalkFile(in: folder) }
    let exported = try await replica.withExporter(for: "\(other)", at: speaker, content) { exporter, makeDurable in
      try exporter.export(to: pending.file, makeDurable: makeDurable, progress: nil)
    }
    let (report, limit) = (report, replica.tuning.remoteFileSize)
    try await run { stream in
      let source = try FileDescriptor.openPlainForReading(pending.path)
      guard try source.size() <= limit else { throw GodwitError.tooLargeToFetch(limit) }
      var sent = 0
      while true {
        let chunk = try [UInt8](unsafeUninitializedCapacity: TalkStream.messageLimit) { buffer, count in
          count = try source.readFully(into: UnsafeMutableRawBufferPointer(buffer))
        }
        guard !chunk.isEmpty else { break }
        try Self.write(.chunk(chunk), to: stream)
        sent += chunk.count
        report(.publishing, sent)
      }
      try Self.write(.end, to: stream)
    }
    return exported
  }

  /// Throws what the other side has said of a failure, where it reads no more.
  private static func write(_ message: TalkStream.Message, to stream: TalkStream) throws {
    do {
      try stream.write(message)
    } catch {
      guard case .failure(let bytes)? = stream.lastWords(after: error) else { throw error }
      throw try failure(bytes)
    }
  }

  /// - Parameters:
  ///   - mayBeNone: Whether the other side may send no file.
  ///   - whole: Called once all of it has come.
  private func receive(
    isRejoining: Bool, mayBeNone: Bool = true, _ whole: @Sendable () -> Void = {}
  ) async throws {
    let pending = try await BlockingThread.run { [folder] in try TalkFile(in: folder) }
    var count = 0
    receiving: while true {
      switch try await message() {
      case .chunk(let bytes):
        count += bytes.count
        guard count <= replica.tuning.remoteFileSize else {
          throw GodwitError(
            .limitExceeded, "a file of the other side has more than \(replica.tuning.remoteFileSize) bytes",
            hint: "carry it by hand: over there, godwit export FILE")
        }
        try await BlockingThread.run { try pending.file.write(bytes) }
        report(.fetching, count)
      case .end: break receiving
      case .nothing where mayBeNone: return
      default: throw Self.unexpected
      }
    }
    whole()
    fetchedBytes += count
    guard part != .sending else { return }
    let file = try await replica.take(fetched: pending.path, isRejoining: isRejoining)
    speaker = file.origin
    taken.append(file.report)
  }
}

/// A file on its way, which goes with the value.
///
/// Unchecked Sendable: one thread at a time writes to it.
private final class TalkFile: @unchecked Sendable {
  let file: PendingFile
  var path: String { file.temporaryPath }

  init(in folder: RemotesFolder) throws { file = try PendingFile(replacing: folder.talk) }
}

extension RemotePass {
  /// Syncs with a replica that talks.
  mutating func talk(at place: RemoteURL) async throws {
    let (replica, folder, name, progress, isRejoining) = (replica, folder, remote.name, progress, isRejoining)
    let meter = TransferMeter(pace: pace)
    guard
      let connection = try await BlockingThread.run({ try place.connection(meter: meter) })
    else { return }
    let stream = TalkStream(source: connection.stream, sink: connection.stream)
    let talk = RemoteTalk(replica, over: stream, by: folder) { direction, bytes in
      progress?(Replica.SyncProgress(remote: name, direction: direction, bytes: bytes, total: bytes))
    }
    defer { (report.taken, report.published, report.fetchedBytes) = (talk.taken, talk.published, talk.fetchedBytes) }
    try await withTaskCancellationHandler {
      try await BlockingThread.run {
        guard let banner = try stream.findMagic() else { return }
        throw connection.explanation(banner)
      }
      do {
        try await talk.speakAsClient(isRejoining: isRejoining)
      } catch let error as GodwitError where error.code == .unreachable {
        try Task.checkCancellation()
        throw try await BlockingThread.run { connection.explanation(of: error) }
      }
    } onCancel: {
      meter.cancel()
      connection.stream.end()
    }
    try await BlockingThread.run { connection.end() }
    try Task.checkCancellation()
  }
}
