import Foundation
import Godwit
import ToolSupport

/// Documents one after another from a file or the standard input: objects with space between them (JSON lines), or the
/// elements of one array. Only the document at hand is in memory.
final class DocumentStream {
  private let descriptor: Int32
  private let name: String
  private let closes: Bool
  private var buffer: [UInt8] = []
  private var place = 0
  private var isInArray = false
  private var hasStarted = false
  private var hasEnded = false
  private let member: String?
  /// Bytes that have been read so far, and how many there are, when that is known.
  private(set) var offset = 0
  let size: Int?
  private(set) var line = 1

  static let documentByteLimit = 16 << 20
  private static let chunkSize = 1 << 16

  /// With `member` the array under that member of the one object that the file is.
  init(_ path: String, member: String?) throws {
    self.member = member
    guard path != "-" else {
      guard !StandardStream.input.isTerminal else {
        throw GodwitError(
          .invalidArgument, "the standard input is a terminal", hint: "give a file, or pipe one in: … | godwit put …")
      }
      (descriptor, name, closes, size) = (FileHandle.standardInput.fileDescriptor, "the standard input", false, nil)
      return
    }
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw GodwitError(.fileAccess, "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    var status = stat()
    (name, closes) = (path, true)
    size = fstat(descriptor, &status) == 0 && status.st_size > 0 ? Int(status.st_size) : nil
  }

  deinit { if closes { close(descriptor) } }

  /// The next document's bytes and the line it starts in; nil at the end.
  func next() throws -> (bytes: [UInt8], line: Int)? {
    if !hasStarted { try start() }
    guard !hasEnded else { return nil }
    try skipSpace()
    if isInArray {
      if try peek() == UInt8(ascii: "]") {
        hasEnded = true
        return nil
      }
    } else if try peek() == nil {
      hasEnded = true
      return nil
    }
    let start = line
    let bytes = try value()
    try skipSpace()
    if isInArray {
      let separator = try peek()
      if separator == UInt8(ascii: ",") {
        take()
        try skipSpace()
        guard try peek() != UInt8(ascii: "]") else { throw failure("an array ends after a comma") }
      } else if separator != UInt8(ascii: "]") {
        throw failure(separator == nil ? "the array does not end" : "a comma is missing between two documents")
      }
    }
    return (bytes, start)
  }

  // MARK: Structure

  private func start() throws {
    hasStarted = true
    try skipSpace()
    if let member { try find(member) }
    if try peek() == UInt8(ascii: "[") {
      take()
      isInArray = true
    } else if member != nil {
      throw failure("what the member holds is no array")
    }
  }

  /// Moves to the value of a member of the root.
  private func find(_ wanted: String) throws {
    guard try peek() == UInt8(ascii: "{") else { throw failure("the file is no object that could have members") }
    take()
    while true {
      try skipSpace()
      guard try peek() == UInt8(ascii: "\"") else {
        throw GodwitError(.notFound, "\(name) has no member \(wanted)", hint: "leave out --at for an array or for JSON lines")
      }
      let name = try JSON(text: String(decoding: try value(), as: UTF8.self)).stringValue
      try skipSpace()
      guard try peek() == UInt8(ascii: ":") else { throw failure("a colon is missing after a member's name") }
      take()
      try skipSpace()
      if name == wanted { return }
      _ = try value()
      try skipSpace()
      if try peek() == UInt8(ascii: ",") { take() }
    }
  }

  /// The bytes of one value; whether they are JSON is for the library to say.
  private func value() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var depth = 0
    var isInString = false
    while let byte = try peek() {
      if !isInString, depth == 0, !bytes.isEmpty, Self.endsScalar(byte) { break }
      bytes.append(byte)
      take()
      guard bytes.count <= Self.documentByteLimit else {
        throw failure("a document is larger than \(Self.documentByteLimit >> 20) MiB")
      }
      if isInString {
        if byte == UInt8(ascii: "\\"), let escaped = try peek() {
          bytes.append(escaped)
          take()
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
      if depth == 0, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { break }
      guard depth >= 0 else { throw failure("a bracket closes what was not opened") }
    }
    return bytes
  }

  private static func endsScalar(_ byte: UInt8) -> Bool {
    [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":")].contains(byte)
  }

  private func failure(_ what: String) -> GodwitError {
    GodwitError(.invalidDocument, "\(name): \(what), at line \(line)", hint: "it wants an array of objects, or one object a line")
  }

  // MARK: Bytes

  private func skipSpace() throws {
    while let byte = try peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { take() }
  }

  private func take() {
    if buffer[place] == UInt8(ascii: "\n") { line += 1 }
    place += 1
    offset += 1
  }

  private func peek() throws -> UInt8? {
    if place < buffer.count { return buffer[place] }
    buffer = [UInt8](repeating: 0, count: Self.chunkSize)
    place = 0
    while true {
      let count = read(descriptor, &buffer, Self.chunkSize)
      if count >= 0 {
        buffer.removeLast(Self.chunkSize - count)
        return buffer.first
      }
      guard errno == EINTR else {
        buffer = []
        throw GodwitError(.fileAccess, "cannot read \(name): \(String(cString: strerror(errno)))")
      }
    }
  }
}
