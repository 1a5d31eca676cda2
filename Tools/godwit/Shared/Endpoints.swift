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
  /// What these arguments stand for: `-` the standard input, the volumes of one set together, every other file alone.
  /// Each with the words that name it.
  static func sources(arguments: [String]) throws -> [(source: SyncSource, name: String)] {
    let runs = arguments.split(separator: "-", omittingEmptySubsequences: false)
    return try runs.enumerated().flatMap { number, run in
      let standardInput = number > 0 ? [(source: try SyncSource(argument: "-"), name: "-")] : []
      return standardInput + grouping(Array(run)).map { (source: $0, name: $0.name) }
    }
  }

  private var name: String {
    switch self {
    case .file(let path): path
    case .volumes(let paths): paths.joined(separator: " ")
    case .standardInput: "-"
    }
  }
}

extension SyncDestination {
  /// A file, or the standard output for `-`. Refuses a terminal, which binary would garble.
  ///
  /// With a size the file is cut into volumes.
  init(argument: String, volumeSize: ByteCount? = nil) throws {
    guard argument == "-" else {
      self = volumeSize.map { .volumes(argument, byteCount: $0.count) } ?? .file(argument)
      return
    }
    guard volumeSize == nil else {
      throw GodwitError(.invalidArgument, "volumes are files of their own", hint: "give a file in place of -")
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
  /// The error with the file or volumes it is about.
  func naming(_ file: String) -> GodwitError {
    // Of several volumes a message names the one it is about.
    let volumes = file.split(separator: " ").filter { $0.hasSuffix(".new") || $0.suffix(4).first == "." }
    guard file != "-", !message.contains(file), volumes.count < 2 || !volumes.contains(where: { message.contains($0) })
    else { return self }
    return GodwitError(code, "\(file): \(message)", hint: hint, underlying: self)
  }
}
