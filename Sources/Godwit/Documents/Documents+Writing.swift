import Foundation
import GodwitBase
import GodwitModel
import GodwitEngine
import GodwitDocuments

extension Documents {
  // MARK: Whole documents

  /// Makes the document what the JSON says: members that it does not name go. Without `expires` it does not expire.
  ///
  /// - Throws: `invalidDocument` with line and column; `limitExceeded`; `invalidArgument` for a key or name that is
  ///   empty or too long, and for an expiry that is NaN. Nothing is stored then.
  public func set(_ key: String, json: String, expires: Date? = nil) async throws {
    try await write { try $0.set(key, json: json, expires: expires) }
  }

  /// Makes the document what is given: members that are not named go. Without `expires` it does not expire.
  ///
  /// - Throws: `valueNotStorable` for NaN; otherwise as `set(_:json:)`.
  public func set(_ key: String, _ document: [String: JSON], expires: Date? = nil) async throws {
    try await write { try $0.set(key, document, expires: expires) }
  }

  /// Makes the document what the value encodes to, which must be an object. Without `expires` it does not expire.
  ///
  /// A `Decimal` is stored as a number where a double gives all its digits back, else as a text, and reads from both.
  ///
  /// - Throws: `valueNotStorable` for what JSON has no form for; otherwise as `set(_:json:)`.
  public func set(_ key: String, encoding value: some Encodable & Sendable, expires: Date? = nil) async throws {
    try await write { try $0.set(key, encoding: value, expires: expires) }
  }

  // MARK: Members

  /// Writes these members and leaves the others; a null takes one away. Makes the document when there is none. Its
  /// expiry stays as it is.
  ///
  /// - Throws: As `set(_:json:)`.
  public func merge(_ key: String, json: String) async throws {
    try await write { try $0.merge(key, json: json) }
  }

  /// Writes these members and leaves the others; null takes one away.
  ///
  /// - Throws: As `set(_:json:)`; `valueNotStorable` for NaN.
  public func merge(_ key: String, _ members: [String: JSON]) async throws {
    try await write { try $0.merge(key, members) }
  }

  /// Adds to a counter of a document, which is made when there is none.
  ///
  /// - Throws: `invalidArgument` for a member that is not declared as a counter, `valueNotStorable` when the count
  ///   would be beyond 64 bits.
  public func add(_ amount: Int, to member: String, of key: String) async throws {
    try await write { try $0.add(amount, to: member, of: key) }
  }

  /// Puts an element into a set of a document, which is made when there is none.
  ///
  /// - Throws: `invalidArgument` for a member that is not declared as a set.
  public func insert(_ element: JSON, into member: String, of key: String) async throws {
    try await write { try $0.insert(element, into: member, of: key) }
  }

  /// Takes an element out of a set of a document.
  ///
  /// - Throws: `invalidArgument` for a member that is not declared as a set.
  public func remove(_ element: JSON, from member: String, of key: String) async throws {
    try await write { try $0.remove(element, from: member, of: key) }
  }

  // MARK: Expiry

  /// Lets the document expire at an instant, or never.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: `invalidArgument` for an instant that is NaN.
  @discardableResult
  public func expire(_ key: String, at instant: Date?) async throws -> Bool {
    try await write { try $0.expire(key, at: instant) }
  }

  // MARK: Deleting

  /// Deletes the document.
  ///
  /// - Returns: Whether there was one.
  @discardableResult
  public func delete(_ key: String) async throws -> Bool { try await write { try $0.delete(key) } }

  /// Deletes the documents of a request.
  ///
  /// - Returns: How many there were.
  @discardableResult
  public func delete(_ request: DocumentRequest<Document>) async throws -> Int {
    try await write { try $0.delete(request) }
  }

  /// Deletes every document, here and, as they learn of it, on other replicas: the collection is absent then.
  ///
  /// - Throws: `notFound` when it is absent already.
  public func drop() async throws { try await write { try $0.drop() } }
}
