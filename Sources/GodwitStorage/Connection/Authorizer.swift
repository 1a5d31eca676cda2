import CSQLCipher
import GodwitBase

/// Who wrote a statement, and so what it may do.
package enum Authority: Hashable, Sendable {
  /// Godwit itself.
  case trusted
  /// The program that uses Godwit: reads and writes rows, never transactions, settings or Godwit's tables.
  case user
  /// Whoever gave a check or a rule: an expression over one value, which calls the functions of its language and reads
  /// no table.
  case expression
}

/// Decides while a statement is compiled whether it is allowed (sqlite3_set_authorizer); running it costs nothing.
final class Authorizer {
  private(set) var authority = Authority.trusted
  private let isReader: Bool
  var protectedTables: Set<String> = []
  /// Godwit's functions, in lower case, that a program's statements may call.
  var openFunctions: Set<String> = []
  /// Godwit's functions that its own triggers alone may call, in small letters.
  var closedFunctions: Set<String> = []
  /// What expressions may call, in small letters.
  var expressionFunctions: Set<String> = []
  /// Tables that statements compiled since the last ``takeWrites()`` may write.
  private var writes = TableSet.none
  private(set) var hasWrites = false
  /// Whether the statement that was compiled last changes a table's shape or name.
  private(set) var alters = false

  private static let readPragmas: Set<String> = [
    "table_info", "index_list", "index_info", "index_xinfo", "foreign_key_list", "foreign_key_check",
    "table_xinfo", "database_list", "compile_options", "data_version", "collation_list",
  ]
  private static let refusedFunctions: Set<String> = ["load_extension", "fts3_tokenizer", "sqlcipher_export"]

  init(isReader: Bool) { self.isReader = isReader }

  func install(on handle: OpaquePointer) {
    let callback:
      @convention(c) (
        UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?
      ) -> Int32 = { context, action, first, second, _, trigger in
        guard let context else { return SQLITE_DENY }
        let authorizer = Unmanaged<Authorizer>.fromOpaque(context).takeUnretainedValue()
        if let first, action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE {
          authorizer.noteWrite(String(cString: first))
        }
        // The body of a program's own trigger is the program's, whoever's statement fires it.
        guard authorizer.authority != .trusted || trigger != nil else { return SQLITE_OK }
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        if authorizer.authority == .trusted, Authorizer.isOwn(text(trigger)) { return SQLITE_OK }
        return authorizer.allows(action, text(first), text(second), trigger: text(trigger)) ? SQLITE_OK : SQLITE_DENY
      }
    sqlite3_set_authorizer(handle, callback, Unmanaged.passUnretained(self).toOpaque())
  }

  func takeWrites() -> TableSet {
    defer {
      writes = .none
      hasWrites = false
    }
    return writes
  }

  private func noteWrite(_ table: String) {
    hasWrites = true
    // A table may have gone, come or taken another's name.
    let isSchema = table == "sqlite_master" || table == "sqlite_temp_master"
    writes.formUnion(isSchema ? .all : TableSet([table]))
  }

  /// Throws `notAuthorized` for a program's statement that was compiled and reaches Godwit's own by ways that SQLite
  /// does not ask about: a common table expression passes for a trigger by its name, and what a table is renamed to is
  /// named nowhere. A function's name stands as it is in every text that calls it.
  func requireForeign(_ sql: String) throws {
    let text = sql.lowercased()
    guard text.contains("godwit_") else { return }
    guard !alters, !closedFunctions.contains(where: text.contains) else {
      throw GodwitError.sqlite(SQLITE_AUTH, nil)
    }
  }

  func withAuthority<Result>(_ value: Authority, _ body: () throws -> Result) rethrows -> Result {
    let previous = authority
    authority = value
    // Of one that did not compile nothing is left.
    alters = false
    defer { authority = previous }
    return try body()
  }

  private func allows(_ action: Int32, _ first: String, _ second: String, trigger: String) -> Bool {
    if authority == .expression {
      return action == SQLITE_SELECT || action == SQLITE_FUNCTION && expressionFunctions.contains(second.lowercased())
    }
    if isReader { return allowsReading(action, first, second) }
    switch action {
    case SQLITE_TRANSACTION, SQLITE_SAVEPOINT, SQLITE_ATTACH, SQLITE_DETACH:
      return false
    case SQLITE_PRAGMA:
      return Self.isReading(first.lowercased(), second)
    case SQLITE_FUNCTION:
      return Self.isOwn(trigger) && Self.isOwn(second) || mayCall(second)
    case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
      return !Self.isOwn(first)
    case SQLITE_CREATE_TABLE, SQLITE_CREATE_VIEW, SQLITE_CREATE_VTABLE, SQLITE_DROP_VIEW, SQLITE_DROP_VTABLE:
      return !Self.isOwn(first)
    case SQLITE_CREATE_TEMP_TABLE, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TEMP_INDEX:
      return !Self.isOwn(first) && !protectedTables.contains(first.lowercased())
    case SQLITE_CREATE_TEMP_TRIGGER:
      // Godwit could not see it, and its firing order would change what is captured.
      return false
    case SQLITE_DROP_INDEX:
      // Declared indexes are the catalog's; a program may drop those it made itself.
      let isDeclared = first.hasPrefix("index_") && protectedTables.contains(second.lowercased())
      return !Self.isOwn(first) && !isDeclared
    case SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_DROP_TRIGGER:
      return !Self.isOwn(first) && !Self.isOwn(second)
    case SQLITE_DROP_TABLE:
      return !Self.isOwn(first) && !protectedTables.contains(first.lowercased())
    case SQLITE_ALTER_TABLE:
      alters = true
      return !Self.isOwn(second) && !protectedTables.contains(second.lowercased())
    default:
      return true
    }
  }

  private func allowsReading(_ action: Int32, _ first: String, _ second: String) -> Bool {
    switch action {
    case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: true
    case SQLITE_PRAGMA: Self.isReading(first.lowercased(), second)
    case SQLITE_FUNCTION: mayCall(second)
    default: false
    }
  }

  /// Whether the PRAGMA changes nothing. A module asks for the page size when its table is made.
  private static func isReading(_ pragma: String, _ argument: String) -> Bool {
    readPragmas.contains(pragma) || pragma == "page_size" && argument.isEmpty
  }

  private func mayCall(_ function: String) -> Bool {
    let name = function.lowercased()
    return Self.isOwn(name) ? openFunctions.contains(name) : !Self.refusedFunctions.contains(name)
  }

  fileprivate static func isOwn(_ name: String) -> Bool { name.lowercased().hasPrefix("godwit_") }
}
