import Foundation
import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitDocuments
import GodwitStorage

extension Documents {
  /// The document as JSON text, members in the order of their bytes; nil when there is none.
  public func json(_ key: String) async throws -> String? { try await replica.read { try json(key, in: $0) } }

  /// The same inside a reader or transaction.
  public func json(_ key: String, in reader: Reader) throws -> String? {
    try row(key, in: reader, DocumentReading.text)
  }

  /// The document's members by name; nil when there is none.
  public func get(_ key: String) async throws -> [String: JSON]? { try await replica.read { try get(key, in: $0) } }

  /// The same inside a reader or transaction.
  public func get(_ key: String, in reader: Reader) throws -> [String: JSON]? {
    try row(key, in: reader, DocumentReading.members)
  }

  /// The document as a Decodable type; nil when there is none.
  ///
  /// A number that is not 0 reads as true, and so do the texts `1`, `yes` and `true` in any case; dates are ISO 8601.
  ///
  /// - Throws: `valueMismatch` that names the member.
  public func get<Target: Decodable & Sendable>(_ key: String, as type: Target.Type) async throws -> Target? {
    try await replica.read { try get(key, as: type, in: $0) }
  }

  /// The same inside a reader or transaction.
  public func get<Target: Decodable>(_ key: String, as type: Target.Type, in reader: Reader) throws -> Target? {
    try get(key, in: reader).map { try JSON.object($0).decode(type) }
  }

  /// Whether there is a document of this key.
  public func has(_ key: String) async throws -> Bool { try await replica.read { try has(key, in: $0) } }

  /// The same inside a reader or transaction.
  public func has(_ key: String, in reader: Reader) throws -> Bool {
    try row(key, in: reader) { _, _ in true } ?? false
  }

  /// Whether there is a document of each of these keys.
  public func hasAll(_ keys: some Sequence<String> & Sendable) async throws -> Bool {
    try await replica.read { try hasAll(keys, in: $0) }
  }

  /// The same inside a reader or transaction.
  public func hasAll(_ keys: some Sequence<String>, in reader: Reader) throws -> Bool {
    try keys.allSatisfy { try has($0, in: reader) }
  }

  /// When the document expires; nil when it does not, or is not there.
  public func expiry(of key: String) async throws -> Date? { try await replica.read { try expiry(of: key, in: $0) } }

  /// The same inside a reader or transaction.
  public func expiry(of key: String, in reader: Reader) throws -> Date? {
    try row(key, in: reader) { statement, _ in Self.expiry(try statement.value(at: 1)) } ?? nil
  }

  /// The keys of the documents that meet a condition.
  public func keys(
    order: String? = nil, where build: (Document.Fields) -> Document.Condition
  ) async throws -> [String] {
    try await replica.fetch(ordered(all.where(build), order).keys)
  }

  /// The keys of documents, by condition and order in text: `keys(where: "price > 3", order: "name, date desc")`.
  public func keys(where text: String? = nil, order: String? = nil) async throws -> [String] {
    try await replica.fetch(ordered(chosen(text), order).keys)
  }

  /// How many documents there are, or meet a condition in text.
  public func count(where text: String? = nil) async throws -> Int { try await replica.count(chosen(text)) }

  /// How many documents meet a condition.
  public func count(where build: (Document.Fields) -> Document.Condition) async throws -> Int {
    try await replica.count(all.where(build))
  }

  /// Observes the documents, or those that meet a condition in text: the first result comes at once, another after
  /// each change, here or by a merge, and when one of them expires.
  public func observe(where text: String? = nil, order: String? = nil) -> LiveQuery<DocumentRequest<Document>> {
    replica.observe(ordered(chosen(text), order))
  }

  private func chosen(_ text: String?) -> DocumentRequest<Document> { text.map { all.where($0) } ?? all }

  private func ordered(_ request: DocumentRequest<Document>, _ order: String?) -> DocumentRequest<Document> {
    order.map { request.order(by: $0) } ?? request
  }

  /// The row of a key, unless it has expired.
  func row<Output>(
    _ key: String, in reader: Reader, _ body: (Statement, CollectionShape) throws -> Output
  ) throws -> Output? {
    try reader.checkIsOpen()
    let connection = reader.connection
    let table = try address.table()
    try clock.look(at: connection)
    do {
      return try connection.withStatement(address.selectByKey()) { statement in
        try statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        if statement.holds(.integer, at: 1), statement.integer(at: 1) <= clock.now { return nil }
        return try body(statement, CollectionShape.of(statement, table: table, on: connection))
      }
    } catch let error as GodwitError where error.code == .notInSchema {
      return nil
    }
  }
}
