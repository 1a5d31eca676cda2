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

extension SyncDestination {
  /// A file, or the standard output for `-`. Refuses a terminal, which binary would garble, and the replica's own
  /// folder, whose files an argument given by mistake would replace.
  init(argument: String, outside replica: Replica) throws {
    guard argument == "-" else {
      let folder = URL(fileURLWithPath: argument).deletingLastPathComponent().resolvingSymlinksInPath().path
      let own = URL(fileURLWithPath: replica.path).resolvingSymlinksInPath().path
      guard folder != own, !folder.hasPrefix("\(own)/") else {
        throw GodwitError(
          .invalidArgument, "\(argument) is in the replica's own folder", hint: "choose a file in another folder")
      }
      self = .file(argument)
      return
    }
    guard !StandardStream.output.isTerminal else {
      throw GodwitError(
        .invalidArgument, "binary data is not written to a terminal",
        hint: "give a file, or send it on: godwit … - | ssh HOST godwit … -")
    }
    self = .standardOutput
  }
}
