import Foundation
import GodwitBase
import GodwitFiles
import GodwitStorage

/// What another program's database looks like from outside: a file that was exchanged or written to shows another state
/// (Specs/conversion.md, "Reading").
struct SourceState {
  private let path: String
  private let look: FileLook

  /// How large the database is.
  var byteCount: Int { Int(look.byteCount) }

  /// Throws `fileAccess`.
  init(_ path: String) throws {
    self.path = path
    look = try Self.look(path)
  }

  private static func look(_ path: String) throws -> FileLook {
    guard let look = try FileLook(path) else { throw GodwitError.file("read the state of", path, ENOENT) }
    return look
  }

  /// Throws `busy` for another state, and for one with a log or journal beside it.
  func requireUnchanged() throws {
    try PlaintextFile.requireNoChangesBeside(path)
    guard try Self.look(path) == look else { throw changed() }
  }

  /// Runs the body, whose errors are explained by a change that came between: what was read was no one state then.
  func whileItLasts<Output>(_ body: (SourceState) throws -> Output) throws -> Output {
    do {
      return try body(self)
    } catch let error as GodwitError where error.code != .busy {
      guard let now = try? Self.look(path), now != look else { throw error }
      throw changed(underlying: error)
    }
  }

  private func changed(underlying: (any Error)? = nil) -> GodwitError {
    GodwitError(
      .busy, "\(path) was changed while it was read", hint: "close the program that has it open, then try again",
      underlying: underlying)
  }
}
