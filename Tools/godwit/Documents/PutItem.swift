import Foundation
import Godwit

/// A document on its way into a collection.
struct PutItem: Sendable {
  let key: String
  let expires: Date?
  /// The document alone, each of its members at its place in the file.
  let text: PlacedText

  /// Reads key and expiry. With `as` that is the key, with `member` the one that it names; the document is stored as it
  /// is then.
  init(_ document: PlacedText, in name: String, as key: String?, key member: String?) throws {
    if let key {
      (self.key, expires, text) = (key, nil, document)
      return
    }
    (self.key, expires, text) = try document.read(in: name) { json in
      guard case .object(let members) = try JSON(text: json) else {
        throw GodwitError(.invalidDocument, "it is no object")
      }
      let key = try Self.key(members, member ?? ReservedMembers.key)
      guard member == nil else { return (key, nil, document) }
      let own = PlacedText(bytes: Array(try ReservedMembers.removed(from: json).utf8), position: document.position)
      return (key, try Self.expiry(members), own)
    }
  }

  private static func key(_ members: [String: JSON], _ name: String) throws -> String {
    switch members[name] {
    case .string(let text): return text
    case .integer(let number): return String(number)
    default:
      throw GodwitError(
        .invalidDocument, "its member \(name) is no text and no whole number",
        hint: "name the member that is the key with --key, or give one document a key with --as")
    }
  }

  private static func expiry(_ members: [String: JSON]) throws -> Date? {
    guard let value = members[ReservedMembers.expires], value != .null else { return nil }
    guard let date = try? value.decode(Date.self) else {
      throw GodwitError(
        .invalidDocument, "its member \(ReservedMembers.expires) is no time",
        hint: "it is ISO 8601: 2026-03-01T12:00:00.000Z; a member of the document's own has one more _")
    }
    return date
  }
}
