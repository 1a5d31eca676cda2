import Foundation
import Godwit
import ToolSupport

/// Documents one after another from a file or the standard input: objects (JSON lines) and the elements of arrays, in
/// any number. Only the document at hand is in memory.
final class DocumentStream {
  private let bytes: DocumentBytes
  /// Under which member of each object the array of documents is.
  private let member: String?
  private var state = State.root

  private enum State {
    /// Between values.
    case root
    /// In an array, behind so many elements.
    case array(count: Int)
  }

  /// What the file is called.
  var name: String { bytes.name }
  /// Bytes that have been read so far, and how many there are, when that is known.
  var offset: Int { bytes.offset }
  var size: Int? { bytes.size }

  static let documentByteLimit = 16 << 20

  /// With `member` the arrays under that member of the objects that the file is.
  init(_ path: String, member: String?) throws {
    self.member = member
    bytes = try DocumentBytes(path)
  }

  /// The next document; nil at the end. Whether it is JSON is for the library to say.
  func next() throws -> PlacedText? {
    while true {
      try bytes.skipSpace()
      switch state {
      case .root:
        guard let byte = try bytes.peek() else { return nil }
        if let member {
          try enter(byte, member)
        } else if byte == UInt8(ascii: "[") {
          bytes.take()
          state = .array(count: 0)
        } else {
          guard byte == UInt8(ascii: "{") else { throw failure("what stands here is no object and no array") }
          return try value()
        }
      case .array(let count):
        if try bytes.peek() == UInt8(ascii: "]") {
          bytes.take()
          state = .root
          if let member { try members(member, hasFound: true) }
        } else {
          try separate(count)
          state = .array(count: count + 1)
          return try value()
        }
      }
    }
  }

  /// Steps over the comma behind an element.
  private func separate(_ count: Int) throws {
    guard let byte = try bytes.peek() else { throw failure("the array does not end") }
    guard count > 0 else { return }
    guard byte == UInt8(ascii: ",") else { throw failure("a comma is missing between two documents") }
    bytes.take()
    try bytes.skipSpace()
    guard let next = try bytes.peek() else { throw failure("the array does not end") }
    guard next != UInt8(ascii: "]") else { throw failure("an array ends after a comma") }
  }

  // MARK: Members

  private func enter(_ byte: UInt8, _ member: String) throws {
    guard byte == UInt8(ascii: "{") else { throw failure("what stands here is no object that could have members") }
    bytes.take()
    try bytes.skipSpace()
    if try bytes.peek() == UInt8(ascii: "}") { throw missing(member) }
    try members(member, hasFound: false, isFirst: true)
  }

  /// Continues to the array under a member, or to the end of the object that has had it.
  private func members(_ wanted: String, hasFound: Bool, isFirst: Bool = false) throws {
    var isFirst = isFirst
    while true {
      try bytes.skipSpace()
      if !isFirst {
        if try bytes.peek() == UInt8(ascii: "}") {
          guard hasFound else { throw missing(wanted) }
          bytes.take()
          return
        }
        guard try bytes.peek() == UInt8(ascii: ",") else { throw failure("a comma is missing between two members") }
        bytes.take()
        try bytes.skipSpace()
      }
      isFirst = false
      guard try bytes.peek() == UInt8(ascii: "\"") else { throw failure("a member's name is missing") }
      let start = bytes.position
      let found = try value().read(in: name) { try JSON(text: $0).stringValue }
      try bytes.skipSpace()
      guard try bytes.peek() == UInt8(ascii: ":") else { throw failure("a colon is missing after a member's name") }
      bytes.take()
      try bytes.skipSpace()
      guard found == wanted else {
        _ = try value().read(in: name) { try JSON(text: $0) }
        continue
      }
      guard !hasFound else { throw start.failure("the object has the member \(wanted) twice", in: name) }
      guard try bytes.peek() == UInt8(ascii: "[") else { throw failure("what the member holds is no array") }
      bytes.take()
      state = .array(count: 0)
      return
    }
  }

  private func missing(_ member: String) -> GodwitError {
    GodwitError(.notFound, "\(name) has no member \(member)", hint: "leave out --at for an array or for JSON lines")
  }

  // MARK: Values

  /// The text of one value, by its quotes and brackets.
  private func value() throws -> PlacedText {
    let start = bytes.position
    var text: [UInt8] = []
    var depth = 0
    var isInString = false
    while let byte = try bytes.peek() {
      if !isInString, depth == 0, !text.isEmpty, Self.endsScalar(byte) { break }
      text.append(byte)
      bytes.take()
      guard text.count <= Self.documentByteLimit else {
        throw start.failure("what begins here is larger than \(Self.documentByteLimit >> 20) MiB", in: name)
      }
      if isInString {
        if byte == UInt8(ascii: "\\"), let escaped = try bytes.peek() {
          text.append(escaped)
          bytes.take()
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          if depth == 0 { break }
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      guard depth >= 0 else { throw start.failure("a bracket closes what was not opened", in: name) }
      if depth == 0, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { break }
    }
    return PlacedText(bytes: text, position: start)
  }

  private static func endsScalar(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":")].contains(byte)
  }

  private func failure(_ what: String) -> GodwitError {
    bytes.position.failure(what, in: name, hint: "put wants arrays of objects, or objects one after another")
  }
}
