import ArgumentParser

/// How many entries a listing shows.
struct LimitOption: ParsableArguments {
  @Option(help: ArgumentHelp("Show this many, the newest.", valueName: "count"))
  var limit = 50

  func validate() throws {
    guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit is from 1 to 1000000") }
  }
}
