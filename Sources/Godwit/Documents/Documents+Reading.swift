import Foundation
import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitDocuments

extension Documents {
  /// The document as JSON text, members in the order of their bytes; nil when there is none.
  public func json(_ key: String) async throws -> String? { try await read { try $0.json(key) } }

  /// The document's members by name; nil when there is none.
  public func get(_ key: String) async throws -> [String: JSON]? { try await read { try $0.get(key) } }

  /// The document as a Decodable type; nil when there is none.
  ///
  /// A number that is not 0 reads as true, and so do the texts `1`, `yes` and `true` in any case; dates are ISO 8601.
  ///
  /// - Throws: `valueMismatch` that names the member.
  public func get<Target: Decodable & Sendable>(_ key: String, as type: Target.Type) async throws -> Target? {
    try await read { try $0.get(key, as: type) }
  }

  /// Whether there is a document of this key.
  public func has(_ key: String) async throws -> Bool { try await read { try $0.has(key) } }

  /// Whether there is a document of each of these keys.
  public func hasAll(_ keys: some Sequence<String> & Sendable) async throws -> Bool {
    try await read { try $0.hasAll(keys) }
  }

  /// When the document expires; nil when it does not, or is not there.
  public func expiry(of key: String) async throws -> Date? { try await read { try $0.expiry(of: key) } }

  /// The keys of the documents that meet a condition.
  public func keys(
    order: String? = nil, where build: (Document.Fields) -> Document.Condition
  ) async throws -> [String] {
    try await replica.fetch(self.where(build).ordered(order).keys)
  }

  /// The keys of documents, by condition and order in text: `keys(where: "price > 3", order: "name, date desc")`.
  public func keys(where text: String? = nil, order: String? = nil) async throws -> [String] {
    try await replica.fetch(chosen(text).ordered(order).keys)
  }

  /// How many documents there are, or meet a condition in text.
  public func count(where text: String? = nil) async throws -> Int { try await replica.count(chosen(text)) }

  /// How many documents meet a condition.
  public func count(where build: (Document.Fields) -> Document.Condition) async throws -> Int {
    try await replica.count(self.where(build))
  }

  /// Observes the documents, or those that meet a condition in text: the first result comes at once, another after
  /// each change, here or by a merge, and when one of them expires.
  public func observe(where text: String? = nil, order: String? = nil) -> LiveQuery<DocumentRequest<Document>> {
    replica.observe(chosen(text).ordered(order))
  }

  func chosen(_ text: String?) -> DocumentRequest<Document> { text.map { all.where($0) } ?? all }
}

extension DocumentRequest {
  func ordered(_ text: String?) -> Self { text.map { order(by: $0) } ?? self }
}
