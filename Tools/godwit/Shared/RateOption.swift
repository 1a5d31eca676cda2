import ArgumentParser

/// How fast commands that sync move bytes.
struct RateOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Move at most so many bytes a second, both ways together: 500k, 2M (of 1,024 each), 1MB (of 1,000 each).",
      valueName: "rate"))
  var limitRate: ByteCount?

  /// Nil for as many as there can be.
  var bytesPerSecond: Int? { limitRate?.count }
}
