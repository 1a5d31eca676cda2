import Foundation
import Godwit
import ToolSupport

extension SyncSource {
  /// A file, or the standard input for `-`.
  init(argument: String) throws {
    guard argument == "-" else {
      self = .file(argument)
      return
    }
    guard !StandardStream.input.isTerminal else {
      throw GodwitError(
        .invalidArgument, "the standard input is a terminal", hint: "give a file, or pipe one in: … | godwit … -")
    }
    self = .standardInput
  }
}

extension SyncSource {
  /// What these arguments stand for, `-` for the standard input, each with the words that name it.
  static func sources(arguments: [String]) throws -> [(source: SyncSource, name: String)] {
    try arguments.map { (source: try SyncSource(argument: $0), name: $0) }
  }
}

extension SyncDestination {
  /// A file, or the standard output for `-`. Refuses a terminal, which binary would garble.
  ///
  /// With a size it may become several files.
  init(argument: String, maxSize: ByteCount? = nil) throws {
    guard argument == "-" else {
      self = maxSize.map { .files(argument, maximumByteCount: $0.count) } ?? .file(argument)
      return
    }
    guard maxSize == nil else {
      throw GodwitError(
        .invalidArgument, "the standard output is one file, of whatever size",
        hint: "give a file in place of -, or leave --max-size out")
    }
    guard !StandardStream.output.isTerminal else {
      throw GodwitError(
        .invalidArgument, "binary data is not written to a terminal",
        hint: "give a file, or send it on: godwit … - | ssh HOST godwit … -")
    }
    self = .standardOutput
  }
}

extension GodwitError {
  /// The error with the file it is about.
  func naming(_ file: String) -> GodwitError {
    let name = file == "-" ? "the standard input" : file
    guard !message.contains(name) else { return self }
    return GodwitError(code, "\(name): \(message)", hint: hint, underlying: self)
  }
}
