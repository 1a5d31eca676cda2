import Foundation
import Godwit

/// Key and expiry of a document as members beside its own: the form of a line that `get` writes and `put` reads
/// (Specs/cli.md, "Documents").
enum ReservedMembers {
  static let key = "_key"
  static let expires = "_expires"

  /// A document's own member under a name that cannot be taken for a reserved one: with one more `_`.
  static func escaped(_ name: String) -> String { isReserved(name) ? "_" + name : name }

  /// The member that ``escaped(_:)`` has written so.
  static func unescaped(_ name: String) -> String {
    isReserved(name) && name.hasPrefix("__") ? String(name.dropFirst()) : name
  }

  private static func isReserved(_ name: String) -> Bool {
    name.hasPrefix("_") && ["key", "expires"].contains(name.drop { $0 == "_" })
  }

  /// The document as one object, with its key and expiry.
  static func object(_ document: Document) -> JSON {
    var members: [String: JSON] = [:]
    for (name, value) in document.members { members[escaped(name)] = value }
    members[key] = .string(document.key)
    members[expires] = document.expires?.shown
    return .object(members)
  }

  /// The JSON of a document without key and expiry, each of its own members where it stood. The text is an object, and
  /// JSON.
  static func removed(from text: String) throws -> String {
    var bytes = Array(text.utf8)
    let members = RootMember.all(of: bytes)
    var isKept: [Bool] = []
    for member in members {
      let name = try Self.name(bytes[member.name])
      isKept.append(name != key && name != expires)
      if isKept.last == false {
        blank(&bytes, member.whole)
      } else if unescaped(name) != name {
        blank(&bytes, member.name)
        let renamed = Array(JSON.string(unescaped(name)).text.utf8)
        bytes.replaceSubrange(member.name.upperBound - renamed.count..<member.name.upperBound, with: renamed)
      }
    }
    let last = isKept.lastIndex(of: true) ?? 0
    for (index, member) in members.enumerated() where !isKept[index] || index >= last {
      if let comma = member.comma { bytes[comma] = UInt8(ascii: " ") }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A name that may be a reserved one; of others nothing has to be known.
  private static func name(_ quoted: ArraySlice<UInt8>) throws -> String {
    let first = quoted.dropFirst().first
    guard first == UInt8(ascii: "_") || first == UInt8(ascii: "\\") else { return "" }
    return try JSON(text: String(decoding: quoted, as: UTF8.self)).stringValue ?? ""
  }

  /// Line ends stay, and so does the place of everything else.
  private static func blank(_ bytes: inout [UInt8], _ range: Range<Int>) {
    for place in range where bytes[place] != UInt8(ascii: "\n") { bytes[place] = UInt8(ascii: " ") }
  }
}

/// Where a member at the root of an object stands in its text.
struct RootMember {
  /// Its name with the quotes.
  let name: Range<Int>
  /// From the name to the value's end.
  let whole: Range<Int>
  /// The comma behind it.
  let comma: Int?

  /// Of an object that is JSON, as has been seen before.
  static func all(of bytes: [UInt8]) -> [RootMember] {
    var found: [RootMember] = []
    var depth = 0
    var isInString = false
    var isEscaped = false
    var name: Range<Int>?
    var end = 0
    func finish(_ comma: Int?) {
      if let known = name { found.append(RootMember(name: known, whole: known.lowerBound..<end, comma: comma)) }
      name = nil
    }
    for (place, byte) in bytes.enumerated() {
      if isInString {
        end = place + 1
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          if depth == 1, let known = name, known.count == 1 { name = known.lowerBound..<end }
        }
        continue
      }
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "\""):
        isInString = true
        if depth == 1, name == nil { name = place..<place + 1 }
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { finish(nil) }
      case UInt8(ascii: ",") where depth == 1:
        finish(place)
        continue
      default: break
      }
      end = place + 1
    }
    return found
  }
}

extension Date {
  /// As text, for `put` to read; an instant beyond the last that has a text, the end of the year 9999, as that one.
  var shown: JSON { min(self, Date(timeIntervalSince1970: 253_402_300_799.999)).json }
}
