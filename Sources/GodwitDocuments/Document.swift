import Foundation
import GodwitModel

/// A document as it is stored: its key, its members, and when it expires.
public struct Document: Hashable, Sendable {
  /// The key in its collection.
  public let key: String
  /// The members by name.
  public let members: [String: JSON]
  /// The instant from which on it is gone, or nil.
  public let expires: Date?

  package init(key: String, members: [String: JSON], expires: Date?) {
    self.key = key
    self.members = members
    self.expires = expires
  }

  /// The member of this name, or nil.
  public subscript(member: String) -> JSON? { members[member] }

  /// The document as JSON text, members in the order of their bytes.
  public var json: String { JSON.object(members).text }

  /// The document as a Decodable type.
  ///
  /// - Throws: `valueMismatch` that names the member.
  public func decode<Target: Decodable>(_ type: Target.Type = Target.self) throws -> Target {
    try JSON.object(members).decode(type)
  }
}
