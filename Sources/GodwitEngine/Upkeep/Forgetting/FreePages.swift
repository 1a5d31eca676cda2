import GodwitBase
import GodwitStorage

/// Gives pages that hold nothing any more back to the file system, by moving pages from the file's end into their
/// places (SQLite's incremental vacuum).
struct FreePages {
  let connection: Connection

  /// So many stay, to be written to again.
  private static let slack = 32

  /// Gives back at most so many pages; returns whether that was all.
  func giveBack(_ limit: Int) throws -> Bool {
    let surplus = try count - Self.slack
    guard surplus > 0 else { return true }
    try connection.execute("PRAGMA incremental_vacuum(\(min(surplus, limit)))")
    // A database that was made without room for moving pages gives none back.
    let left = try count - Self.slack
    return left <= 0 || left == surplus
  }

  private var count: Int {
    get throws {
      guard case .integer(let count)? = try connection.scalar("PRAGMA freelist_count") else { return 0 }
      return Int(count)
    }
  }
}
