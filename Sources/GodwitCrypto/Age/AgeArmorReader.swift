import GodwitBase

/// Gives the bytes inside armor. Lines may end in LF or CRLF, and blank space may stand before and after; anything else
/// that is not exactly the canonical form is refused.
package final class AgeArmorReader: ByteSource {
  private let source: LineSource
  private var bytes: ArraySlice<UInt8> = []
  private var hasStarted = false
  private var isComplete = false
  private var failure: (any Error)?

  package convenience init(_ source: any ByteSource) { self.init(lines: LineSource(source)) }

  private init(lines: LineSource) { source = lines }

  /// The bytes inside armor, or those of a source that does not begin as armor does.
  static func unwrappingArmor(_ source: any ByteSource) throws -> any ByteSource {
    let lines = LineSource(source)
    guard let first = try lines.peek(), first == UInt8(ascii: "-") || AgeArmor.isSpace(first) else { return lines }
    return AgeArmorReader(lines: lines)
  }

  /// Throws `corruptFile` or `truncatedFile`. An error stays: later reads throw it again.
  package func read(into target: UnsafeMutableRawBufferPointer) throws -> Int {
    if let failure { throw failure }
    do {
      if !hasStarted { try readFirstLine() }
      while bytes.isEmpty, !isComplete { try readLine() }
    } catch {
      failure = error
      throw error
    }
    let part = bytes.prefix(target.count)
    target.copyBytes(from: part)
    bytes = bytes.dropFirst(part.count)
    return part.count
  }

  private func readFirstLine() throws {
    hasStarted = true
    var whitespaceCount = 0
    while true {
      let line = try line(byteCountMax: AgeArmor.whitespaceCountMax)
      if line.elementsEqual(AgeArmor.firstLine.utf8) { return }
      guard line.allSatisfy(AgeArmor.isSpace) else { throw AgeArmor.malformed("it does not begin as armor does") }
      whitespaceCount += line.count + 1
      guard whitespaceCount <= AgeArmor.whitespaceCountMax else {
        throw AgeArmor.malformed("there is too much space before it")
      }
    }
  }

  private func readLine() throws {
    let line = try line(byteCountMax: AgeArmor.columnCount + 1)
    if line.elementsEqual(AgeArmor.lastLine.utf8) { return try readEnd() }
    guard !line.isEmpty, line.count <= AgeArmor.columnCount, line.count.isMultiple(of: 4) else {
      throw AgeArmor.malformed("a line has the wrong length")
    }
    let paddingCount = line.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard paddingCount <= 2, let decoded = Base64.decode(line.dropLast(paddingCount)) else {
      throw AgeArmor.malformed("a line is not base64")
    }
    bytes = decoded[...]
    guard decoded.count < AgeArmor.lineByteCount else { return }
    // Only the last line is shorter.
    guard try self.line(byteCountMax: AgeArmor.columnCount + 1).elementsEqual(AgeArmor.lastLine.utf8) else {
      throw AgeArmor.malformed("a short line is not the last one")
    }
    try readEnd()
  }

  private func readEnd() throws {
    isComplete = true
    let rest = try source.readExactlyOrEnd(AgeArmor.whitespaceCountMax + 1)
    guard rest.allSatisfy(AgeArmor.isSpace) else { throw AgeArmor.malformed("something follows it") }
    guard rest.count <= AgeArmor.whitespaceCountMax else { throw AgeArmor.malformed("too much space follows it") }
  }

  /// The next line without its end.
  private func line(byteCountMax: Int) throws -> [UInt8] {
    var line = try source.line(byteCountMax: byteCountMax + 1)
    guard !line.isCut else { throw AgeArmor.malformed("a line is too long") }
    guard line.isTerminated || !line.bytes.isEmpty else { throw AgeArmor.truncated() }
    if line.bytes.last == UInt8(ascii: "\r") { line.bytes.removeLast() }
    return line.bytes
  }
}

extension ByteSource {
  /// `count` bytes, or all there are when these are fewer.
  func readExactlyOrEnd(_ count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = try readFully(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
