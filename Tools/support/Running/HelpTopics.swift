import ArgumentParser

/// A tool that has help on more than its commands: `godwit help formats`.
public protocol HelpTopics {
  /// A subject, in one word, and what is to be said about it. A command of the same name comes with its own help before
  /// that.
  static var topics: [(name: String, text: String)] { get }
}

/// `help NAME`, where NAME is a topic.
struct HelpRequest {
  /// What is shown.
  let text: String

  /// Nil for anything else, which the parser answers.
  init?(_ arguments: [String], of root: any ParsableCommand.Type) {
    guard arguments.count == 2, arguments[0] == "help", let topics = (root as? any HelpTopics.Type)?.topics,
      let topic = topics.first(where: { $0.name == arguments[1] })
    else { return nil }
    let command = root.configuration.subcommands.first { $0._commandName == topic.name }
    text = (command.map { root.helpMessage(for: $0) + "\n" } ?? "") + topic.text
  }
}
