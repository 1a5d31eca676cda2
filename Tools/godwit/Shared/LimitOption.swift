import ArgumentParser
import ToolSupport

/// How many entries a listing shows.
struct LimitOption: ParsableArguments {
  @Option(help: ArgumentHelp("Show this many, the newest.", valueName: "count"))
  var limit = 50

  func validate() throws {
    guard (1...1_000_000).contains(limit) else { throw ValidationError("--limit is from 1 to 1000000") }
  }

  /// How many to ask for: one more shows whether there are others.
  var asked: Int { limit + 1 }

  /// Those to show of what came, with a note when there are others.
  func shown<Entry>(_ entries: [Entry], _ console: Console) -> ArraySlice<Entry> {
    if entries.count > limit { console.note("the newest \(limit); there are more: --limit") }
    return entries.prefix(limit)
  }
}
