import GodwitBase
import GodwitEngine
import GodwitFiles
import GodwitRemotes
import GodwitStorage

// The other end of a sync with a replica that talks (Specs/remotes.md, "Talks").

extension Replica {
  /// The replica's path in what a client has sshd run; nil for any other command.
  package static func pathToServe(askedForBy command: String) -> String? { SSHAddress.path(askedForBy: command) }

  /// Serves another replica over two descriptors. Who says nothing for long is given up.
  package func serve(
    reading input: FileDescriptor, writing output: FileDescriptor, receives: Bool, sends: Bool
  ) async throws -> [MergeReport] {
    try await serve(
      source: PatientDescriptor(input), sink: PatientDescriptor(output), receives: receives, sends: sends)
  }

  /// Serves another replica over a connection.
  package func serve(
    source: any ByteSource & Sendable, sink: any ByteSink & Sendable, receives: Bool = true, sends: Bool = true,
    introduced: @Sendable () -> Void = {}
  ) async throws -> [MergeReport] {
    let folder = try await remotesFolder()
    // Of a process that was killed in a talk; what is being written has a lock.
    try await BlockingThread.run { try folder.removeTalks() }
    let talk = RemoteTalk(
      self, over: TalkStream(source: source, sink: sink), by: folder,
      part: receives && sends ? .both : receives ? .receiving : .sending)
    try await talk.speakAsServer(introduced: introduced)
    return talk.taken
  }

  /// The most talks at a time; who comes later waits.
  private static let talkLimit = 16

  /// Serves whoever connects at a Unix socket, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - path: The socket, which is made, and goes again.
  ///   - listening: Called once connections are taken.
  ///   - failed: Called with what ended a talk early, at any time and on any thread.
  /// - Throws: `invalidArgument`, `unsafeFile`, `busy` or `fileAccess` where there can be no such socket.
  package func serve(
    atSocket path: String, receives: Bool = true, sends: Bool = true, listening: () throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void
  ) async throws {
    let listener = try await BlockingThread.run { try TalkListener(path) }
    try listening()
    try await withTaskCancellationHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        var count = 0
        while let stream = try await BlockingThread.run({ try listener.next() }) {
          if count == Self.talkLimit { _ = try await group.next() } else { count += 1 }
          group.addTask { await self.serve(stream, receives, sends, failed) }
        }
        group.cancelAll()
      }
    } onCancel: {
      listener.end()
    }
    try Task.checkCancellation()
  }

  private func serve(
    _ stream: SocketStream, _ receives: Bool, _ sends: Bool, _ failed: @Sendable (any Error) -> Void
  ) async {
    let limit = Task { [time = tuning.introductionTime] in
      try await Task.sleep(for: time)
      stream.end()
    }
    defer { limit.cancel() }
    do {
      try await withTaskCancellationHandler {
        _ = try await serve(source: stream, sink: stream, receives: receives, sends: sends) { limit.cancel() }
      } onCancel: {
        stream.end()
      }
    } catch  where !Task.isCancelled {
      failed(error)
    } catch {}
  }
}
