import Foundation
import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitDocuments

extension Documents {
  /// A collection whose documents are objects of a type: `replica.documents(of: Account.self)`.
  public struct Objects<Object: DocumentObject>: Sendable {
    /// The collection itself, for members one by one, keys, and expiry.
    public let documents: Documents

    /// Makes the object's document what the object is. Members that differ are written, and no others.
    ///
    /// The expiry is what the call says: without `expires` the document does not expire, also when it was read with an
    /// expiry. To keep one, say it again: `documents.expiry(of: key)` returns it.
    ///
    /// - Throws: `valueNotStorable` for what JSON has no form for; `invalidArgument` for a key that is empty or too
    ///   long, and for an expiry that is NaN.
    public func save(_ object: Object, expires: Date? = nil) async throws {
      try await documents.set(object.key, encoding: object, expires: expires)
    }

    /// The object of this key, or nil.
    ///
    /// - Throws: `valueMismatch` that names the member.
    public func get(_ key: String) async throws -> Object? { try await documents.get(key, as: Object.self) }

    /// Deletes the object's document.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func delete(_ object: Object) async throws -> Bool { try await documents.delete(object.key) }

    /// All objects, as a request to narrow down, order, fetch, count or observe: `replica.fetch(accounts.all)`.
    public var all: DocumentRequest<Object> { documents.all.decoding(Object.self) }

    /// Objects that meet the condition.
    public func `where`(_ build: (Document.Fields) -> Document.Condition) -> DocumentRequest<Object> {
      all.where(build)
    }

    /// Objects that meet the condition: `"active = true and name contains 'a'"`.
    public func `where`(_ text: String) -> DocumentRequest<Object> { all.where(text) }

    /// The same objects inside a reader or a transaction.
    public func `in`<Scope: Reader>(_ scope: Scope) -> Inside<Scope> { Inside(documents: documents.in(scope)) }

    /// Objects of a type inside a reader or a transaction.
    public struct Inside<Scope: Reader> {
      /// The collection itself there.
      public let documents: Documents.Inside<Scope>

      /// As ``Documents/Objects/all``.
      public var all: DocumentRequest<Object> { documents.all.decoding(Object.self) }

      /// As ``Documents/Objects/where(_:)-((Document.Fields)->Document.Condition)``.
      public func `where`(_ build: (Document.Fields) -> Document.Condition) -> DocumentRequest<Object> {
        all.where(build)
      }

      /// As ``Documents/Objects/where(_:)-(String)``.
      public func `where`(_ text: String) -> DocumentRequest<Object> { all.where(text) }

      /// As ``Documents/Objects/get(_:)``.
      public func get(_ key: String) throws -> Object? { try documents.get(key, as: Object.self) }
    }
  }
}

extension Documents.Objects.Inside where Scope == Transaction {
  /// As ``Documents/Objects/save(_:expires:)``.
  public func save(_ object: Object, expires: Date? = nil) throws {
    try documents.set(object.key, encoding: object, expires: expires)
  }

  /// As ``Documents/Objects/delete(_:)``.
  @discardableResult
  public func delete(_ object: Object) throws -> Bool { try documents.delete(object.key) }
}
