import Foundation
import GodwitBase
import GodwitModel
import GodwitDocuments

/// A type of one's own that is kept as a document: its properties are the members.
///
/// ```swift
/// struct Account: DocumentObject {
///   static let collection = "accounts"
///   var key: String
///   var name: String
/// }
/// try await replica.save(Account(key: "ada", name: "Ada"))
/// let ada = try await replica.load(Account.self, key: "ada")
/// ```
public protocol DocumentObject: Codable, Sendable {
  /// The collection that its objects are in.
  static var collection: String { get }
  /// Members that merge in a way of their own; none by default.
  static var mergedMembers: [Document.Member] { get }
  /// The document's key.
  var key: String { get }
}

extension DocumentObject {
  /// None.
  public static var mergedMembers: [Document.Member] { [] }
}

extension Replica {
  /// The collection of a type.
  public func documents<Object: DocumentObject>(of type: Object.Type) -> Documents {
    documents(Object.collection, members: Object.mergedMembers)
  }

  /// Makes the object's document what the object is. Members that differ are written, and no others.
  ///
  /// The expiry is what the call says: without `expires` the document does not expire, also when it was loaded with an
  /// expiry. To keep one, say it again: `documents(of: Session.self).expiry(of: key)` returns it.
  ///
  /// - Throws: `valueNotStorable` for what JSON has no form for; `invalidArgument` for a key that is empty or too long,
  ///   and for an expiry that is NaN.
  public func save<Object: DocumentObject>(_ object: Object, expires: Date? = nil) async throws {
    try await documents(of: Object.self).set(object.key, encoding: object, expires: expires)
  }

  /// The object of this key, or nil.
  ///
  /// - Throws: `valueMismatch` that names the member.
  public func load<Object: DocumentObject>(_ type: Object.Type, key: String) async throws -> Object? {
    try await documents(of: type).get(key, as: type)
  }

  /// Deletes the object's document.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func delete<Object: DocumentObject>(_ object: Object) async throws -> Bool {
    try await documents(of: Object.self).delete(object.key)
  }

  /// Objects of a type as a request: `fetch(objects(Account.self))`.
  public func objects<Object: DocumentObject>(
    _ type: Object.Type, where text: String? = nil, order: String? = nil
  ) -> DocumentRequest<Object> {
    let all = documents(of: type).all
    let chosen = text.map { all.where($0) } ?? all
    return (order.map { chosen.order(by: $0) } ?? chosen).decoding(type)
  }

  /// Observes the objects of a type.
  public func observe<Object: DocumentObject>(
    _ type: Object.Type, where text: String? = nil, order: String? = nil
  ) -> LiveQuery<DocumentRequest<Object>> {
    observe(objects(type, where: text, order: order))
  }
}
