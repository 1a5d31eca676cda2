import Foundation
import GodwitBase
import GodwitModel
import GodwitCore
import GodwitEngine
import GodwitDocuments
import GodwitStorage

/// A collection of JSON documents by key. Columns appear by themselves, and every document merges member by member with
/// what other replicas made of it.
///
/// ```swift
/// let accounts = replica.documents("accounts")
/// try await accounts.set("ada", ["name": "Ada", "price": 12, "tags": ["new"]])
/// let dear = try await accounts.keys { $0.price > 10 }
/// ```
///
/// It is a value that names the collection; nothing is made before the first document is. ``in(_:)`` has the same
/// functions for work inside a transaction or a reader.
public struct Documents: Sendable {
  let replica: Replica
  let address: CollectionAddress

  /// The collection's name.
  public var collection: String { address.collection }

  /// The name of its table, for SQL: `documents_accounts`; columns are its members, and `_key`.
  ///
  /// The table has documents that have expired until they are swept. The SQL of a request has not:
  /// `"SELECT … FROM (\(accounts.all.sql))"`.
  ///
  /// - Throws: `invalidArgument` for a name that no collection can have.
  public var table: String { get throws { try address.table() } }

  var clock: DocumentClock { replica.documentClock }
}

extension Replica {
  /// A collection of documents.
  ///
  /// - Parameters:
  ///   - collection: Its name.
  ///   - members: Those that merge in a way of their own.
  public func documents(_ collection: String, members: [Document.Member] = []) -> Documents {
    Documents(replica: self, address: CollectionAddress(collection, members: members))
  }

  /// The names of the collections that hold documents, in order.
  public func collections() async throws -> [String] {
    try await read { reader in
      let names = try Catalog(reader.connection).synced.map(\.definition.name)
        .compactMap(CollectionTable.collection(of:))
      return try names.filter { try reader.first(self.documents($0).all.keys) != nil }.sorted()
    }
  }
}

// MARK: - Requests

extension Documents {
  /// All documents, as a request to narrow down, order, fetch, count or observe.
  public var all: DocumentRequest<Document> {
    DocumentRequest(address, clock) { statement, shape in
      Document(
        key: try statement.text(at: 0), members: try DocumentReading.members(statement, shape),
        expires: try Self.expiry(statement.value(at: 1)))
    }
  }

  /// Documents that meet the condition.
  public func `where`(_ build: (Document.Fields) -> Document.Condition) -> DocumentRequest<Document> {
    all.where(build)
  }

  /// Documents that meet the condition: `"price > 3 and tags contains 'new' or stock = 0"`.
  public func `where`(_ text: String) -> DocumentRequest<Document> { all.where(text) }

  static func expiry(_ value: Value) -> Date? {
    DocumentReading.expiry(value).map { Date(milliseconds: $0) }
  }
}

extension DocumentRequest {
  /// Only the keys of the documents.
  public var keys: DocumentRequest<String> {
    reading(SQLName.quoted(CollectionTable.keyColumn)) { statement, _ in try statement.text(at: 0) }
  }

  /// The documents as JSON text.
  public var json: DocumentRequest<String> { reading { try DocumentReading.text($0, $1) } }

  /// The documents as a Decodable type.
  public func decoding<Target: Decodable & Sendable>(_ type: Target.Type) -> DocumentRequest<Target> {
    reading { statement, shape in try JSON.object(DocumentReading.members(statement, shape)).decode(type) }
  }
}
