import ArgumentParser

/// How fast commands that sync move bytes.
public struct RateOption: ParsableArguments {
  /// The rate as it was given.
  @Option(
    help: ArgumentHelp(
      "Move at most so many bytes a second, both ways together: 500k, 2M (of 1,024 each), 1MB (of 1,000 each).",
      valueName: "rate"))
  public var limitRate: ByteCount?

  /// None.
  public init() {}

  /// Refuses a rate with which a transfer would be taken for one that is stuck.
  public func validate() throws {
    guard bytesPerSecond.map({ $0 >= 1_000 }) ?? true else { throw ValidationError("--limit-rate is 1000 or more") }
  }

  /// Nil for as many as there can be.
  public var bytesPerSecond: Int? { limitRate?.count }
}
