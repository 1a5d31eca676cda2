import Foundation
import Godwit
// What tools write is made of these.
@_exported import GodwitReports

/// Where a command writes: data to the standard output, everything else to the standard error.
public struct Console: Sendable {
  /// Whether notes are left out.
  public let isQuiet: Bool
  /// Whether data is written as JSON.
  public let usesJSON: Bool

  /// Notes and progress are for people: JSON turns them off as `isQuiet` does.
  public init(isQuiet: Bool, usesJSON: Bool) {
    self.isQuiet = isQuiet
    self.usesJSON = usesJSON
  }

  /// Writes a line of data.
  ///
  /// - Throws: `diskFull` or `fileAccess` when the standard output does not take it.
  public func line(_ text: String) throws { try StandardStream.output.write(text + "\n") }

  /// Writes a JSON value as a line of data.
  public func line(_ value: JSONValue) throws { try line(value.text) }

  /// A document as it is written: as it is stored, but on a terminal, which characters in it could command, and as JSON
  /// with such characters by their codes.
  public func document(_ json: String) -> String {
    usesJSON || StandardStream.output.isTerminal ? Format.escapedJSON(json) : json
  }

  /// Writes many lines of data, in large pieces.
  public func lines(_ lines: some Sequence<String>) throws {
    var buffer = ""
    for line in lines {
      buffer += line
      buffer += "\n"
      if buffer.utf8.count >= 1 << 16 {
        try StandardStream.output.write(buffer)
        buffer.removeAll(keepingCapacity: true)
      }
    }
    try StandardStream.output.write(buffer)
  }

  /// Whether a list that is longer than the screen goes to a pager.
  public var hasPager: Bool { !usesJSON && Pager() != nil }

  /// Writes a list for a person: on a terminal that it does not fit on by the user's pager.
  ///
  /// - Throws: As ``lines(_:)``.
  public func pages(_ lines: some Sequence<String>) async throws {
    let lines = Array(lines)
    if !usesJSON, let pager = Pager(), Pager.isNeeded(for: lines), await pager.show(lines) { return }
    try self.lines(lines)
  }

  /// Writes something that is not data for a person. A standard error that takes no more is no reason to fail.
  public func note(_ text: String) {
    guard !isQuiet, !usesJSON else { return }
    try? StandardStream.error.write(text + "\n")
  }

  /// A progress bar for people.
  public func progress(_ label: String) -> ProgressBar {
    ProgressBar(label: label, isShown: !isQuiet && !usesJSON && StandardStream.error.isTerminal)
  }
}
