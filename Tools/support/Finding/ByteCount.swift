import ArgumentParser

/// A size as an argument: `4096`, `650M` (of 1,024 each, as of discs), `100MB` (of 1,000 each).
public struct ByteCount: ExpressibleByArgument {
  /// Bytes, at least one.
  public let count: Int

  /// Nil for a text that is no size.
  public init?(argument: String) {
    let digits = argument.prefix { ("0"..."9").contains($0) }
    guard let number = Int(digits), number > 0 else { return nil }
    let factor: Int
    switch argument.dropFirst(digits.count).uppercased() {
    case "", "B": factor = 1
    case "K", "KIB": factor = 1 << 10
    case "M", "MIB": factor = 1 << 20
    case "G", "GIB": factor = 1 << 30
    case "KB": factor = 1_000
    case "MB": factor = 1_000_000
    case "GB": factor = 1_000_000_000
    default: return nil
    }
    let (count, isOverflowing) = number.multipliedReportingOverflow(by: factor)
    guard !isOverflowing else { return nil }
    self.count = count
  }
}
