import Foundation
import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitDocuments
import GodwitStorage

extension Documents {
  /// The collection inside a reader or a transaction: the same functions, and what they see and write is the reader's
  /// or the transaction's.
  ///
  /// ```swift
  /// try await replica.write { tx in
  ///   let here = accounts.in(tx)
  ///   let price = try here.get("ada")?["price"]?.integerValue ?? 0
  ///   try here.merge("ada", ["price": .integer(price + 1)])
  /// }
  /// ```
  public func `in`<Scope: Reader>(_ scope: Scope) -> Inside<Scope> {
    Inside(documents: self, scope: scope)
  }

  /// A collection inside a reader or a transaction (``in(_:)``): it reads in both, and writes in a transaction. When
  /// those have ended, every function throws `transactionEnded`.
  public struct Inside<Scope: Reader> {
    let documents: Documents
    let scope: Scope

    /// As ``Documents/collection``.
    public var collection: String { documents.collection }

    /// As ``Documents/all``: `tx.fetch(accounts.all)`.
    public var all: DocumentRequest<Document> { documents.all }

    /// As ``Documents/where(_:)-((Document.Fields)->Document.Condition)``.
    public func `where`(_ build: (Document.Fields) -> Document.Condition) -> DocumentRequest<Document> {
      documents.where(build)
    }

    /// As ``Documents/where(_:)-(String)``.
    public func `where`(_ text: String) -> DocumentRequest<Document> { documents.where(text) }

    var address: CollectionAddress { documents.address }
    var clock: DocumentClock { documents.clock }
  }
}

// MARK: - Outside

extension Documents {
  func read<Output: Sendable>(_ body: sending @escaping (Inside<Reader>) throws -> Output) async throws -> Output {
    try await replica.read { try body(self.in($0)) }
  }

  func write<Output: Sendable>(
    _ body: sending @escaping (Inside<Transaction>) throws -> Output
  ) async throws -> Output {
    try await replica.write { try body(self.in($0)) }
  }
}

// MARK: - Reading

extension Documents.Inside {
  /// As ``Documents/json(_:)``.
  public func json(_ key: String) throws -> String? { try row(key, DocumentReading.text) }

  /// As ``Documents/get(_:)``.
  public func get(_ key: String) throws -> [String: JSON]? { try row(key, DocumentReading.members) }

  /// As ``Documents/get(_:as:)``.
  public func get<Target: Decodable>(_ key: String, as type: Target.Type) throws -> Target? {
    try get(key).map { try JSON.object($0).decode(type) }
  }

  /// As ``Documents/has(_:)``.
  public func has(_ key: String) throws -> Bool { try row(key) { _, _ in true } ?? false }

  /// As ``Documents/hasAll(_:)``.
  public func hasAll(_ keys: some Sequence<String>) throws -> Bool { try keys.allSatisfy { try has($0) } }

  /// As ``Documents/expiry(of:)``.
  public func expiry(of key: String) throws -> Date? {
    try row(key) { statement, _ in Documents.expiry(try statement.value(at: 1)) } ?? nil
  }

  /// As ``Documents/keys(order:where:)``.
  public func keys(
    order: String? = nil, where build: (Document.Fields) -> Document.Condition
  ) throws -> [String] {
    try scope.fetch(documents.where(build).ordered(order).keys)
  }

  /// As ``Documents/keys(where:order:)``.
  public func keys(where text: String? = nil, order: String? = nil) throws -> [String] {
    try scope.fetch(documents.chosen(text).ordered(order).keys)
  }

  /// As ``Documents/count(where:)-(String?)``.
  public func count(where text: String? = nil) throws -> Int { try scope.count(documents.chosen(text)) }

  /// As ``Documents/count(where:)-((Document.Fields)->Document.Condition)``.
  public func count(where build: (Document.Fields) -> Document.Condition) throws -> Int {
    try scope.count(documents.where(build))
  }

  /// The row of a key, unless it has expired by that instant, or the present one.
  func row<Output>(
    _ key: String, at now: Int64? = nil, _ body: (Statement, CollectionShape) throws -> Output
  ) throws -> Output? {
    try scope.checkIsOpen()
    let connection = scope.connection
    let table = try address.table()
    try clock.look(at: connection)
    do {
      return try connection.withStatement(address.selectByKey()) { statement in
        try statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        if let expiry = DocumentReading.expiry(try statement.value(at: 1)), expiry <= now ?? clock.now { return nil }
        return try body(statement, CollectionShape.of(statement, table: table, on: connection))
      }
    } catch let error as GodwitError where error.code == .notInSchema {
      return nil
    }
  }
}
