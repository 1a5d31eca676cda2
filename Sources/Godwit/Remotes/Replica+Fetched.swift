import GodwitBase
import GodwitFiles
import GodwitStorage

extension Replica {
  /// Imports a file that was fetched, and gives up one that takes longer than its size accounts for: while it is
  /// imported, no program's own writes come through. Then nothing is changed.
  ///
  /// - Throws: As ``import(from:progress:)``; `limitExceeded` for a file that takes too long.
  func take(fetched path: String, isRejoining: Bool = false) async throws -> TakenFile {
    let size = try await BlockingThread.run { try PrivateFile.open(path).size() }
    let limit = tuning.importTime * (1 + size / Self.sizeByTime)
    return try await withThrowingTaskGroup(of: TakenFile?.self) { tasks in
      tasks.addTask { try await self.take(.file(path), isRejoining: isRejoining, nil) }
      tasks.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { tasks.cancelAll() }
      if let taken = try await tasks.next(), let taken { return taken }
      tasks.cancelAll()
      do {
        // It may have come to its end meanwhile.
        if let taken = try await tasks.next(), let taken { return taken }
      } catch is CancellationError where !Task.isCancelled {}
      throw GodwitError(
        .limitExceeded, "its import takes longer than \(limit.components.seconds) s",
        hint: "nothing was changed, and it is tried again in an hour; import it by hand: godwit import FILE")
    }
  }

  /// How many bytes ``Tuning/importTime`` is for.
  private static let sizeByTime = 64 << 20
}
