import Foundation
import GodwitBase
import GodwitFiles
import GodwitStorage
import Logging

extension Cache {
  private static let nameLimit = 64
  /// Of the files' names: no program calls a database of another kind so.
  static let suffix = ".cache"

  /// A cache by itself, made when it is missing. Several programs may have one open; each opens it once.
  ///
  /// - Parameters:
  ///   - name: 1 to 64 characters of a–z, 0–9, `-` and `_`.
  ///   - folder: Where its files are: `NAME.cache`, what SQLite puts beside it, and `NAME.lock`. The folder is made,
  ///     with mode 0700, when the cache is first used. A file of that name that does not open with the key is taken for
  ///     a cache that is no good and removed; a database without encryption, and what is no plain file of this user's
  ///     alone, stay, and nothing is cached (`plaintextDatabase`, `unsafeFile`).
  ///   - key: What encrypts it.
  ///   - bound: How much it may hold.
  ///   - logger: Called when a cache was no good and is made anew.
  /// - Throws: `invalidArgument` for another name or a bound that is not positive.
  public static func open(
    named name: String, in folder: String, key: Cache.Key, bound: Cache.Bound = .none,
    logger: Logger = Logger(label: "godwit")
  ) throws -> Cache {
    try check(name: name, bound: bound)
    return Cache(
      name: name, bound: bound, folder: folder, ownsFolder: false, wallClock: .system, logger: logger, key: key.key)
  }

  /// Throws `invalidArgument` for a name or bound that no cache can have.
  package static func check(name: String, bound: Cache.Bound) throws {
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    guard !name.isEmpty, name.count <= nameLimit, name.allSatisfy(allowed.contains) else {
      throw GodwitError(
        .invalidArgument, "a cache is named with 1 to \(nameLimit) of the characters a–z, 0–9, - and _")
    }
    guard bound.bytes ?? 1 > 0, bound.entries ?? 1 > 0 else {
      throw GodwitError(.invalidArgument, "the bound of a cache is not positive")
    }
  }

  /// Removes the files of all caches in a folder, whose key has been replaced. Who has one open begins a new one with
  /// the next use. Blocks.
  package static func removeFiles(in folder: String) throws {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(suffix) {
      let cache = String(name.dropLast(suffix.count))
      guard (try? check(name: cache, bound: .none)) != nil else { continue }
      let lock = try LockFile("\(folder)/\(cache).lock")
      try withExtendedLifetime(lock) { try DatabaseFile.remove("\(folder)/\(name)") }
    }
  }
}
