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
/// let accounts = replica.documents(of: Account.self)
/// try await accounts.save(Account(key: "ada", name: "Ada"))
/// let ada = try await accounts.get("ada")
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
  /// The collection of a type, whose documents are its objects.
  public func documents<Object: DocumentObject>(of type: Object.Type) -> Documents.Objects<Object> {
    Documents.Objects(documents: documents(Object.collection, members: Object.mergedMembers))
  }
}
